import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../machine/free-port.ts';
import { withRedis } from './ask-server.ts';
import { findRedisProgram, type RedisProgram } from './find-program.ts';
import type { RedisServer } from './redis-server.ts';
import { type RedisServerOptions, startRedisProgram } from './start-redis.ts';

/** A cluster of primaries without replicas, each with a third of the slots. */
export interface RedisCluster extends AsyncDisposable {
  readonly nodes: readonly RedisServer[];
  readonly urls: readonly string[];
  /** These act on all nodes at once; `start` resolves once the cluster takes writes. */
  stop(): Promise<void>;
  start(): Promise<void>;
  kill(): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  destroy(): Promise<void>;
}

const SLOTS = 16_384;
const NODES = 3;
const FORMED_WITHIN_MS = 60_000;

/** Starts three nodes on free ports of 127.0.0.1 and makes them a cluster. */
export async function startRedisCluster(options: RedisServerOptions = {}): Promise<RedisCluster> {
  return startClusterOf(await findRedisProgram(), options);
}

async function startClusterOf(program: RedisProgram, options: RedisServerOptions): Promise<RedisCluster> {
  const nodes: RedisServer[] = [];
  const each = async (act: (node: RedisServer) => Promise<void>): Promise<void> => {
    await Promise.all(nodes.map(act));
  };
  const destroy = (): Promise<void> => each((node) => node.destroy());
  try {
    for (let n = 0; n < NODES; n++) {
      const settings = {
        ...options.settings,
        'cluster-enabled': 'yes',
        'cluster-port': String(await freePort()),
        // Longer than a test freezes a node: no failover is to be had without replicas.
        'cluster-node-timeout': '30000',
      };
      nodes.push(await startRedisProgram(program, { dataIn: options.dataIn ?? 'disk', settings }));
    }
    await join(nodes);
    await formed(nodes);
  } catch (error) {
    await destroy();
    throw error;
  }
  return {
    nodes,
    urls: nodes.map(({ url }) => url),
    stop: () => each((node) => node.stop()),
    async start() {
      await each((node) => node.start());
      await formed(nodes);
    },
    kill: () => each((node) => node.kill()),
    pause: () => each((node) => node.pause()),
    resume: () => each((node) => node.resume()),
    destroy,
    [Symbol.asyncDispose]: destroy,
  };
}

async function join(nodes: readonly RedisServer[]): Promise<void> {
  for (const [n, { url }] of nodes.entries()) {
    const from = Math.floor((SLOTS * n) / nodes.length);
    const to = Math.floor((SLOTS * (n + 1)) / nodes.length) - 1;
    await withRedis(url, async (client) => {
      await client.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', n + 1);
    });
  }
  const [first, ...others] = nodes;
  if (first === undefined) return;
  await withRedis(first.url, async (client) => {
    const ownPorts = await Promise.all(
      others.map(({ url }) =>
        withRedis(url, (other) => other.config('GET', 'cluster-port') as Promise<string[]>),
      ),
    );
    for (const [n, { port }] of others.entries())
      await client.call('CLUSTER', 'MEET', '127.0.0.1', port, ownPorts[n]?.[1] ?? '');
  });
}

/** Every node knows all slots and takes writes, which it does some seconds after a restart. */
async function formed(nodes: readonly RedisServer[]): Promise<void> {
  const deadline = performance.now() + FORMED_WITHIN_MS;
  for (const { url } of nodes) {
    for (;;) {
      const info = String(await withRedis(url, (client) => client.call('CLUSTER', 'INFO')));
      if (info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`)) break;
      if (performance.now() > deadline)
        throw new Error(`the cluster did not form within ${FORMED_WITHIN_MS} ms:\n${info}`);
      await sleep(20);
    }
  }
}
