import { startRedisCluster, startTcpProxy, type TcpProxy } from '@surety/testbed';
import { Cluster } from 'ioredis';
import { redis } from '../../src/index.ts';
import { cutSessions } from './single.ts';
import type { Topology } from './topology.ts';

/** Three nodes, each with a third of the slots, and so of the queues. */
export async function startCluster(): Promise<Topology> {
  const cluster = await startRedisCluster({ dataIn: 'memory' });
  const [first] = cluster.nodes;
  return {
    version: `${first?.product} ${first?.version}, ${cluster.nodes.length} nodes`,
    connection: cluster.urls,
    server: {
      stop: () => cluster.stop(),
      start: () => cluster.start(),
      kill: () => cluster.kill(),
      pause: () => cluster.pause(),
      resume: () => cluster.resume(),
      cutSessions: async () => void (await Promise.all(cluster.urls.map(cutSessions))),
    },
    async network(settings) {
      const proxies = new Map<string, TcpProxy>();
      for (const { host, port } of cluster.nodes)
        proxies.set(`${host}:${port}`, await startTcpProxy({ host, port }));
      const each = async (act: (proxy: TcpProxy) => unknown): Promise<void> => {
        await Promise.all([...proxies.values()].map(act));
      };
      const places = [...proxies].map(([node, { host, port }]) => [node, { host, port }] as const);
      // The nodes name each other by their own addresses: the client has to be told the way through the proxies.
      const client = new Cluster(
        places.map(([, place]) => place),
        { lazyConnect: true, natMap: Object.fromEntries(places) },
      );
      return {
        backend: redis({ client, ...settings }),
        cut: () => each((proxy) => proxy.cut()),
        freeze: () => each((proxy) => proxy.blackhole('existing')),
        dropAnswers: () => each((proxy) => proxy.dropReplies()),
        isolate: () => each((proxy) => proxy.blackhole('all')),
        delay: (ms) => each((proxy) => proxy.delay(ms)),
        heal: () => each((proxy) => proxy.heal()),
        close: () => each((proxy) => proxy.close()),
      };
    },
    async connect() {
      const client = new Cluster([...cluster.urls], { lazyConnect: true });
      client.on('error', () => undefined);
      await client.connect();
      return client;
    },
    destroy: () => cluster.destroy(),
  };
}
