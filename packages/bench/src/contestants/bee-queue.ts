import Queue from 'bee-queue';
import { observeRedisKeys } from '../observers/redis-keys.ts';
import type { Contestant, Payload } from './contestant.ts';

const QUEUE = 'bench';
/** As often as it comes with; what a worker that died had in hand is found by it. */
const STALL_MS = 5000;
/** Longer than any job of a bench takes. */
const STOP_MS = 30_000;
/** What its documentation says for throughput: no events and no jobs kept in memory; what has succeeded is removed. */
const LEAN = { getEvents: false, sendEvents: false, storeJobs: false, removeOnSuccess: true };

export const beeQueue: Contestant = {
  name: 'bee-queue',
  packages: ['bee-queue'],
  // A job that has not succeeded is in this hash, whatever its state.
  observe: (url) => observeRedisKeys(url, (client) => client.hlen(`bq:${QUEUE}:jobs`)),
  async prepare(url) {
    const queue = await open(url, false);
    await queue.close(STOP_MS);
  },
  async startProducer(url) {
    const queue = await open(url, false);
    return {
      async enqueue(data) {
        await queue.createJob(data).save();
      },
      async enqueueMany(payloads, delayMs = 0) {
        const dueAt = Date.now() + delayMs;
        const jobs = payloads.map((data) => {
          const job = queue.createJob(data);
          return delayMs > 0 ? job.delayUntil(dueAt) : job;
        });
        const [refused] = await queue.saveAll(jobs);
        if (refused !== undefined) throw refused[1];
      },
      stop: () => queue.close(STOP_MS),
    };
  },
  async startWorker(url, { concurrency, handler }) {
    const queue = await open(url, true);
    await queue.checkStalledJobs(STALL_MS);
    queue.process(concurrency, ({ data }) => handler(data));
    return { stop: () => queue.close(STOP_MS) };
  },
};

async function open(url: string, isWorker: boolean): Promise<Queue<Payload>> {
  // Its types name those of a client that has none; it takes what that client takes.
  const redis = { url } as unknown as NonNullable<Queue.QueueSettings['redis']>;
  const queue = new Queue<Payload>(QUEUE, { ...LEAN, redis, isWorker, stallInterval: STALL_MS });
  queue.on('error', (error) => console.error(error));
  await queue.ready();
  return queue;
}
