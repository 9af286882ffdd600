import { startRabbitmq } from '@surety/testbed';
import { connect } from 'amqplib';
import { processTreeCpuUs } from './process-tree-cpu.ts';
import { placeOf, queuesOf, rabbitmqPlace } from './rabbitmq-place.ts';
import type { Store } from './store.ts';

/**
 * A private broker of the testbed. A place is a prefix of names: `amqp://user:password@host:port#p1`. It is emptied after a run and used again, since
 * quorum queues take time to make and to be relied on.
 */
export async function openRabbitmqStore(): Promise<Store> {
  const server = await startRabbitmq();
  try {
    const broker = Number(/\d+/.exec(await server.control('eval', 'os:getpid().'))?.[0]);
    const free: string[] = [];
    let places = 0;
    return {
      settings: { queues: 'quorum', nodes: '1' },
      versions: { rabbitmq: server.version },
      create: async () => free.shift() ?? rabbitmqPlace(server.url, `p${++places}`),
      settle: async () => undefined,
      async drop(location) {
        await empty(location);
        free.push(location);
      },
      // The queues of all places share their files.
      bytes: async () => 0,
      cpuUs: () => processTreeCpuUs(broker),
      [Symbol.asyncDispose]: () => server.destroy(),
    };
  } catch (error) {
    await server.destroy();
    throw error;
  }
}

async function empty(location: string): Promise<void> {
  const { url, prefix } = placeOf(location);
  const connection = await connect(url, { noDelay: true });
  connection.on('error', () => undefined);
  try {
    for (const queue of queuesOf(prefix)) {
      const channel = await connection.createChannel();
      channel.on('error', () => undefined);
      // A contestant makes its own queues only: one that is missing is empty, and has closed the channel.
      if (await channel.purgeQueue(queue).catch(() => null)) await channel.close();
    }
  } finally {
    await connection.close();
  }
}
