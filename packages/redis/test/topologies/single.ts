import { type RedisServer, type RedisServerOptions, startRedis, startTcpProxy } from '@surety/testbed';
import { Redis } from 'ioredis';
import { redis } from '../../src/index.ts';
import type { Topology } from './topology.ts';

/** One server. */
export async function startSingle(options: RedisServerOptions): Promise<Topology> {
  const server: RedisServer = await startRedis({ dataIn: 'memory', ...options });
  return {
    version: `${server.product} ${server.version}`,
    connection: server.url,
    server: {
      stop: () => server.stop(),
      start: () => server.start(),
      kill: () => server.kill(),
      pause: () => server.pause(),
      resume: () => server.resume(),
      cutSessions: () => cutSessions(server.url),
    },
    async network(settings) {
      const proxy = await startTcpProxy({ host: server.host, port: server.port });
      return {
        backend: redis({ connection: `redis://${proxy.host}:${proxy.port}`, ...settings }),
        cut: async () => proxy.cut(),
        freeze: async () => proxy.blackhole('existing'),
        dropAnswers: async () => proxy.dropReplies(),
        isolate: async () => proxy.blackhole('all'),
        delay: async (ms) => proxy.delay(ms),
        heal: () => proxy.heal(),
        close: () => proxy.close(),
      };
    },
    connect: () => connectTo(server.url),
    destroy: () => server.destroy(),
  };
}

/** Ends every session but the one that asks. */
export async function cutSessions(url: string): Promise<void> {
  const client = await connectTo(url);
  await client.call('CLIENT', 'KILL', 'TYPE', 'normal');
  client.disconnect();
}

async function connectTo(url: string): Promise<Redis> {
  const client = new Redis(url, { lazyConnect: true });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
