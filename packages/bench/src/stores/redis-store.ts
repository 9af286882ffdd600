import { startRedis } from '@surety/testbed';
import { Redis } from 'ioredis';
import type { Store } from './store.ts';

/** Places at the same time; one a contestant, a few for what is going on. */
const DATABASES = 64;
/** For all contestants alike, over the log synced every second of the testbed: no rewriting of the log begins within a run. */
const SETTINGS = { databases: String(DATABASES), 'auto-aof-rewrite-percentage': '0' };
const REPORTED = ['appendonly', 'appendfsync', 'maxmemory-policy', 'auto-aof-rewrite-percentage'];

/** A private server of the testbed. A place is one of its numbered databases. */
export async function openRedisStore(): Promise<Store> {
  const server = await startRedis({ settings: SETTINGS });
  const client = new Redis(server.url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  const destroy = async (): Promise<void> => {
    client.disconnect();
    await server.destroy();
  };
  try {
    await client.connect();
    const settings: Record<string, string> = {};
    for (const name of REPORTED) settings[name] = ((await client.config('GET', name)) as string[])[1] ?? '';
    const free = Array.from({ length: DATABASES - 1 }, (_, index) => index + 1);
    const place = (database: number): string => {
      const url = new URL(server.url);
      url.pathname = `/${database}`;
      return url.href;
    };
    return {
      settings,
      versions: { [server.product.toLowerCase()]: server.version },
      async create() {
        const database = free.shift();
        if (database === undefined) throw new Error(`more than ${DATABASES - 1} places are in use`);
        return place(database);
      },
      // What was written is synced within a second; asking for it now would make the next second's sync smaller than usual.
      settle: async () => undefined,
      async drop(location) {
        const database = Number(new URL(location).pathname.slice(1));
        await client.multi().select(database).flushdb('SYNC').select(0).exec();
        free.push(database);
      },
      // Of all places together: what is of interest is how it grows.
      bytes: async () => Number(await infoOf(client, 'memory', 'used_memory')),
      async cpuUs() {
        const parts = ['used_cpu_sys', 'used_cpu_user'].map((name) => infoOf(client, 'cpu', name));
        return (await Promise.all(parts)).reduce((sum, seconds) => sum + Number(seconds) * 1e6, 0);
      },
      [Symbol.asyncDispose]: destroy,
    };
  } catch (error) {
    await destroy();
    throw error;
  }
}

async function infoOf(client: Redis, section: string, name: string): Promise<string> {
  const line = (await client.info(section)).split('\r\n').find((each) => each.startsWith(`${name}:`));
  if (line === undefined) throw new Error(`the server tells no ${name}`);
  return line.slice(name.length + 1);
}
