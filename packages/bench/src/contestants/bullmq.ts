import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { observeRedisKeys } from '../observers/redis-keys.ts';
import type { Contestant, Load, Payload } from './contestant.ts';
import { fill } from './fill.ts';
import { payload } from './payloads.ts';

const QUEUE = 'bench';
const KEY = `bull:${QUEUE}`;
const LISTS = ['wait', 'active', 'paused'];
const SETS = ['delayed', 'prioritized', 'waiting-children', 'completed', 'failed'];
/** Jobs in a step of loading: the server answers nobody else meanwhile. */
const LOAD_STEP = 10_000;

/** As it comes, but for jobs that have ended: they are removed at once instead of kept. */
export const bullmq: Contestant = {
  name: 'bullmq',
  packages: ['bullmq', 'ioredis'],
  observe: (url) =>
    observeRedisKeys(url, async (client) => {
      const lengths = [
        ...LISTS.map((name) => client.llen(`${KEY}:${name}`)),
        ...SETS.map((name) => client.zcard(`${KEY}:${name}`)),
      ];
      return (await Promise.all(lengths)).reduce((sum, each) => sum + each, 0);
    }),
  async prepare(url) {
    const connection = connect(url);
    const queue = new Queue(QUEUE, { connection });
    await queue.waitUntilReady();
    await queue.close();
    connection.disconnect();
  },
  async startProducer(url) {
    const connection = connect(url);
    const queue = new Queue(QUEUE, { connection });
    queue.on('error', (error) => console.error(error));
    await queue.waitUntilReady();
    return {
      async enqueue(data) {
        await queue.add('job', data);
      },
      async enqueueMany(payloads, delayMs = 0) {
        const opts = delayMs > 0 ? { opts: { delay: delayMs } } : {};
        await queue.addBulk(payloads.map((data) => ({ name: 'job', data, ...opts })));
      },
      async stop() {
        await queue.close();
        connection.disconnect();
      },
    };
  },
  async startWorker(url, { concurrency, handler }) {
    const connection = connect(url);
    const worker = new Worker<Payload>(QUEUE, ({ data }) => handler(data), {
      connection,
      concurrency,
      removeOnComplete: { count: 0 },
    });
    worker.on('error', (error) => console.error(error));
    await worker.waitUntilReady();
    return {
      async stop() {
        await worker.close();
        connection.disconnect();
      },
    };
  },
  async load(url, wanted) {
    await fill(bullmq, url, { count: 1, delayMs: wanted.delayMs });
    await copyFirstJob(url, wanted);
  },
};

/** `maxRetriesPerRequest` as it must be for a worker, whose blocking command waits. */
function connect(url: string): Redis {
  return new Redis(url, { maxRetriesPerRequest: null });
}

/** KEYS: counter, wait, delayed. ARGV: prefix of the jobs, id of the first job, from, to, text before the number, after it, letters of number and filler, text at the end. */
const COPY = `
  local first = redis.call('HGETALL', ARGV[1] .. ARGV[2])
  local score = redis.call('ZSCORE', KEYS[3], ARGV[2])
  local data
  for i = 1, #first, 2 do if first[i] == 'data' then data = i + 1 end end
  for n = tonumber(ARGV[3]), tonumber(ARGV[4]) do
    local id = tostring(tonumber(ARGV[2]) + n)
    local number = tostring(n)
    first[data] = ARGV[5] .. number .. ARGV[6] .. string.rep('x', tonumber(ARGV[7]) - #number) .. ARGV[8]
    redis.call('HSET', ARGV[1] .. id, unpack(first))
    if score then redis.call('ZADD', KEYS[3], score, id) else redis.call('LPUSH', KEYS[2], id) end
  end
  redis.call('SET', KEYS[1], tonumber(ARGV[2]) + tonumber(ARGV[4]))
`;

async function copyFirstJob(url: string, { count }: Load): Promise<void> {
  const client = connect(url);
  try {
    const id = await client.get(`${KEY}:id`);
    if (id === null) throw new Error('the first job has left no id');
    const [before, filler] = ['{"n":', payload(0).filler.length + 1];
    for (let from = 1; from < count; from += LOAD_STEP) {
      const to = Math.min(from + LOAD_STEP, count) - 1;
      const keys = [`${KEY}:id`, `${KEY}:wait`, `${KEY}:delayed`];
      const values = [`${KEY}:`, id, from, to, before, ',"filler":"', filler, '"}'];
      await client.eval(COPY, keys.length, ...keys, ...values);
    }
  } finally {
    client.disconnect();
  }
}
