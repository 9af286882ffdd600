import { readFileSync } from 'node:fs';
import type { Harness } from '@surety/conformance';
import type { Cluster, Redis } from 'ioredis';
import { type RedisOptions, redis } from '../src/index.ts';
import { startCluster } from './topologies/cluster.ts';
import { startSingle } from './topologies/single.ts';
import type { Topology } from './topologies/topology.ts';

interface Variant {
  readonly start: () => Promise<Topology>;
  readonly options?: RedisOptions;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  /** The distribution's Redis with its log synced every second. */
  '': { start: () => startSingle({}) },
  /** Every write synced before its answer. */
  always: {
    start: () => startSingle({ settings: { appendfsync: 'always' } }),
    options: { durability: 'fsync' },
  },
  /** Three nodes. */
  cluster: { start: startCluster },
  redis8: { start: () => startSingle({ from: 'redis8' }) },
  /** Every enqueue waits until the server says that the log is synced (WAITAOF). */
  fsync: {
    start: () => startSingle({ from: 'redis8', settings: { appendfsync: 'always' } }),
    options: { confirm: { fsync: true } },
  },
  valkey: { start: () => startSingle({ from: 'valkey' }) },
  valkey9: { start: () => startSingle({ from: 'valkey9' }) },
};

/** Nobody listens on port 1, and asking needs no rights. */
const NOBODY = 'redis://127.0.0.1:1';
const PREFIX = 'surety';

/** Surety on private Redis servers, with every fault the suite can ask for. */
export function createHarness(variant: string | null): Harness {
  const chosen = VARIANTS[variant ?? ''];
  if (chosen === undefined) throw new Error(`@surety/redis has no variant "${variant}"`);
  const { start, options = {} } = chosen;
  let topology: Topology | null = null;
  const running = (): Topology => {
    if (topology === null) throw new Error('prepare() was not called');
    return topology;
  };
  const connection = (): string | readonly string[] => topology?.connection ?? NOBODY;
  const nobody = (): string | readonly string[] => (Array.isArray(connection()) ? [NOBODY] : NOBODY);
  return {
    name: 'redis',
    variant,
    versions: async () => ({ server: running().version, client: `ioredis ${ioredisVersion()}` }),
    async prepare() {
      topology = await start();
    },
    async destroy() {
      await topology?.destroy();
      topology = null;
    },
    backend: ({ unreachable = false } = {}) =>
      redis({ connection: unreachable ? nobody() : connection(), ...options }),
    child: {
      module: new URL('./programs/connect.ts', import.meta.url).href,
      args: () => ({ connection: connection(), ...options }),
    },
    server: {
      stop: () => running().server.stop(),
      start: () => running().server.start(),
      kill: () => running().server.kill(),
      pause: () => running().server.pause(),
      resume: () => running().server.resume(),
      cutSessions: () => running().server.cutSessions(),
    },
    network: () => running().network(options),
    elapse: (queue, ms) => withClient(running(), (client) => setBack(client, queue, ms)),
    corruptPayload: (queue, id) => withClient(running(), (client) => corrupt(client, queue, id)),
  };
}

function ioredisVersion(): string {
  const manifest = new URL('../package.json', import.meta.resolve('ioredis'));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

async function withClient<T>(topology: Topology, use: (client: Redis | Cluster) => Promise<T>): Promise<T> {
  const client = await topology.connect();
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

async function setBack(client: Redis | Cluster, queue: string, ms: number): Promise<void> {
  const key = `${PREFIX}:{${queue}}:scheduled`;
  const members = (await client.call('ZRANGE', key, 0, -1)) as string[];
  for (const member of members) await client.zincrby(key, -ms, member);
}

async function corrupt(client: Redis | Cluster, queue: string, id: string): Promise<'written'> {
  const key = `${PREFIX}:{${queue}}:jobs`;
  const body = (await client.hget(key, id)) ?? '';
  await client.hset(key, id, `${body.slice(0, body.indexOf('\n'))}\n{"cut off`);
  return 'written';
}
