import { readFileSync } from 'node:fs';
import type { Harness, HarnessNetwork } from '@surety/conformance';
import { type SqsFaults, type SqsServer, startSqs, startTcpProxy } from '@surety/testbed';
import { type SqsOptions, sqs } from '../src/index.ts';
import { namesOf } from '../src/names.ts';

const PREFIX = 'surety';
/** Faults that the suite cannot see the explanation of, extra copies, are left to the histories. */
const FAULTS: Partial<SqsFaults> = {
  seed: 7,
  throttled: 0.02,
  unavailable: 0.01,
  failedEntry: 0.02,
  lostAnswer: {
    DeleteMessageBatch: 0.02,
    ChangeMessageVisibilityBatch: 0.02,
    GetQueueAttributes: 0.02,
    GetQueueUrl: 0.02,
    CreateQueue: 0.02,
    ListQueueTags: 0.02,
    TagQueue: 0.02,
  },
  emptyReceive: 0.05,
  shortReceive: 0.1,
  shuffled: true,
};
interface Variant {
  readonly faults: Partial<SqsFaults>;
  readonly options: Partial<SqsOptions>;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  '': { faults: {}, options: {} },
  faults: { faults: FAULTS, options: {} },
  sdk: { faults: {}, options: { transport: 'sdk' } },
};
/** Nobody listens on port 1. */
const NOWHERE = 'http://127.0.0.1:1';

/** Surety on a private emulator, with every fault the suite can ask for. */
export function createHarness(variant: string | null): Harness {
  const chosen = VARIANTS[variant ?? ''];
  if (chosen === undefined) throw new Error(`@surety/sqs has no variant "${variant}"`);
  let server: SqsServer | null = null;
  const running = (): SqsServer => {
    if (server === null) throw new Error('prepare() was not called');
    return server;
  };
  const optionsAt = (endpoint: string): SqsOptions => ({ ...optionsFor(endpoint), ...chosen.options });
  const address = (): SqsOptions => optionsAt(server?.endpoint ?? NOWHERE);
  return {
    name: 'sqs',
    variant,
    async versions() {
      return { server: running().version, client: `@aws-sdk/client-sqs ${clientVersion()}` };
    },
    async prepare() {
      server = await startSqs({ faults: chosen.faults });
    },
    async destroy() {
      await server?.destroy();
      server = null;
    },
    backend: ({ unreachable = false } = {}) => sqs(unreachable ? optionsAt(NOWHERE) : address()),
    child: { module: new URL('./programs/connect.ts', import.meta.url).href, args: address },
    server: {
      stop: () => running().stop(),
      start: () => running().start(),
      kill: () => running().kill(),
      pause: () => running().pause(),
      resume: () => running().resume(),
      cutSessions: () => running().cutConnections(),
    },
    network: () => openNetwork(running(), optionsAt),
    elapse: (queue, ms) => {
      const { ready, delay } = namesOf(PREFIX, queue);
      return running().elapse({ all: [delay], delayed: [ready] }, ms);
    },
    async corruptPayload(queue, id) {
      const { ready } = namesOf(PREFIX, queue);
      const changed = await running().edit(ready, id, { from: '\n{', to: '\n{"cut off' });
      if (!changed) throw new Error(`No job ${id} in ${ready}.`);
      return 'written';
    },
  };
}

/** Small waits: what they save on a real account they cost a test in time. */
function optionsFor(endpoint: string): SqsOptions {
  return {
    region: 'us-east-1',
    endpoint,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    prefix: PREFIX,
    pollSeconds: 2,
    pauseCheckMs: 1000,
    delayCheckMs: 500,
  };
}

function clientVersion(): string {
  const manifest = new URL('../package.json', import.meta.resolve('@aws-sdk/client-sqs'));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

async function openNetwork(
  server: SqsServer,
  optionsAt: (endpoint: string) => SqsOptions,
): Promise<HarnessNetwork> {
  const proxy = await startTcpProxy({ host: server.host, port: server.port });
  return {
    backend: sqs(optionsAt(`http://${proxy.host}:${proxy.port}`)),
    cut: async () => proxy.cut(),
    freeze: async () => proxy.blackhole('existing'),
    dropAnswers: async () => proxy.dropReplies(),
    isolate: async () => proxy.blackhole('all'),
    delay: async (ms) => proxy.delay(ms),
    heal: () => proxy.heal(),
    close: () => proxy.close(),
  };
}
