import { readFileSync } from 'node:fs';
import type { Harness, HarnessNetwork } from '@surety/conformance';
import {
  type RabbitmqServer,
  type RabbitmqVersion,
  startRabbitmq,
  startRabbitmqCluster,
  startTcpProxy,
} from '@surety/testbed';
import { rabbitmq } from '../src/index.ts';
import { corruptPayload } from './corrupt-payload.ts';
import { elapse } from './elapse.ts';

interface Variant {
  readonly version: RabbitmqVersion;
  readonly nodes: 1 | 3;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  '': { version: '3.10', nodes: 1 },
  '4.0': { version: '4.0', nodes: 1 },
  '4.3': { version: '4.3', nodes: 1 },
  /** Three nodes on this machine; faults of the server strike all of them. */
  cluster: { version: '3.10', nodes: 3 },
};

/** Nobody listens on port 1, and asking needs no rights. */
const NOBODY = 'amqp://nobody:secret@127.0.0.1:1';

/** Surety on a private broker, with every fault the suite can ask for. */
export function createHarness(variant: string | null): Harness {
  const settings = VARIANTS[variant ?? ''];
  if (settings === undefined) throw new Error(`@surety/rabbitmq has no variant "${variant}"`);
  let nodes: readonly RabbitmqServer[] = [];
  let destroy = async (): Promise<void> => undefined;
  const first = (): RabbitmqServer => {
    const [server] = nodes;
    if (server === undefined) throw new Error('prepare() was not called');
    return server;
  };
  const onAll = async (act: (node: RabbitmqServer) => Promise<void>): Promise<void> => {
    await Promise.all(nodes.map(act));
  };
  const address = (): readonly string[] => (nodes.length === 0 ? [NOBODY] : nodes.map(({ url }) => url));
  return {
    name: 'rabbitmq',
    variant,
    async versions() {
      return { server: `RabbitMQ ${first().version}`, client: `amqplib ${amqplibVersion()}` };
    },
    async prepare() {
      if (settings.nodes === 1) {
        const server = await startRabbitmq({ version: settings.version });
        nodes = [server];
        destroy = () => server.destroy();
        return;
      }
      const cluster = await startRabbitmqCluster({ version: settings.version });
      nodes = cluster.nodes;
      destroy = () => cluster.destroy();
    },
    async destroy() {
      await destroy();
      nodes = [];
    },
    backend: ({ unreachable = false } = {}) => rabbitmq({ url: unreachable ? NOBODY : address() }),
    child: {
      module: new URL('./programs/connect.ts', import.meta.url).href,
      args: () => ({ url: address() }),
    },
    server: {
      stop: () => onAll((node) => node.stop()),
      start: () => onAll((node) => node.start()),
      kill: () => onAll((node) => node.kill()),
      pause: () => onAll((node) => node.pause()),
      resume: () => onAll((node) => node.resume()),
      cutSessions: () => onAll((node) => node.closeConnections()),
    },
    network: () => openNetwork(first()),
    elapse: (queue, ms) => elapse(first().url, queue, ms),
    corruptPayload: (queue, id) => corruptPayload(first().url, queue, id),
  };
}

function amqplibVersion(): string {
  const manifest = new URL('package.json', import.meta.resolve('amqplib'));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

async function openNetwork(server: RabbitmqServer): Promise<HarnessNetwork> {
  const proxy = await startTcpProxy({ host: server.host, port: server.port });
  const url = new URL(server.url);
  url.hostname = proxy.host;
  url.port = String(proxy.port);
  return {
    backend: rabbitmq({ url: url.href }),
    cut: async () => proxy.cut(),
    freeze: async () => proxy.blackhole('existing'),
    dropAnswers: async () => proxy.dropReplies(),
    isolate: async () => proxy.blackhole('all'),
    delay: async (ms) => proxy.delay(ms),
    heal: () => proxy.heal(),
    close: () => proxy.close(),
  };
}
