import { startRedis } from '@surety/testbed';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import {
  CALL,
  claim,
  completion,
  ERROR,
  eventually,
  freshQueue,
  openBackend,
  put,
  request,
  useStore,
} from './store.ts';

/** Far below what polling alone would take. */
const WOKEN_WITHIN_MS = 1000;

describe('waiting claims', () => {
  const store = useStore();
  /** Without a poll that could hide a hint that does not come: the longest there is. */
  const settings = { pollMs: 2000 };
  const hintOf = (queue: string): string => `${store.prefix}:{${queue}}:hint`;

  /** Resolves once so many claims wait in the server, those of other test files among them: a hint waits for one that comes later. */
  async function blocked(count: number): Promise<void> {
    await eventually(async () => {
      const list = String(await store.client.client('LIST'));
      return list.split('\n').filter((line) => line.includes('cmd=blpop')).length >= count;
    });
  }

  test('are woken by a job, by what comes back, by a redrive and by a resume', async () => {
    const [worker, other] = [await store.open(settings), await store.open(settings)];
    const queue = freshQueue();
    const [seed] = await put(other, queue);
    const [held] = await claim(other, queue);
    const [doomed] = await put(other, queue);
    const [buried] = await claim(other, queue);
    if (!seed || !held || !doomed || !buried) throw new Error('two jobs were ready');
    await other.settle([{ kind: 'bury', lease: buried, error: ERROR }], CALL);
    await worker.pacing.pause(freshQueue(), CALL);
    const ways: readonly (() => Promise<unknown>)[] = [
      () => put(other, queue),
      () => other.settle([{ kind: 'release', lease: held, delayMs: 0, reason: 'stop' }], CALL),
      () => other.deadLetters.redrive(queue, { ids: [doomed.id] }, CALL),
    ];
    for (const way of ways) {
      const waiting = claim(worker, queue, { waitMs: 60_000, max: 1 });
      await blocked(1);
      const from = performance.now();
      await way();
      const leases = await waiting;
      expect(leases).toHaveLength(1);
      expect(performance.now() - from).toBeLessThan(WOKEN_WITHIN_MS);
      await worker.settle(leases.map(completion), CALL);
    }
  });

  test('are woken for a job that is due sooner than they would look', async () => {
    const [worker, other] = [await store.open(settings), await store.open(settings)];
    const queue = freshQueue();
    const waiting = claim(worker, queue, { waitMs: 60_000 });
    await blocked(1);
    const from = performance.now();
    await put(other, queue, 1, { delayMs: 300 });
    expect(await waiting).toHaveLength(1);
    const took = performance.now() - from;
    expect(took).toBeGreaterThanOrEqual(300);
    expect(took).toBeLessThan(300 + WOKEN_WITHIN_MS);
  });

  test('wake each other while there is more than one takes', async () => {
    const workers = await Promise.all(Array.from({ length: 4 }, () => store.open(settings)));
    const producer = await store.open();
    const queue = freshQueue();
    const waiting = workers.map((worker) => claim(worker, queue, { waitMs: 60_000, max: 2 }));
    await blocked(4);
    const from = performance.now();
    await put(producer, queue, 8);
    const leases = (await Promise.all(waiting)).flat();
    expect(new Set(leases.map(({ id }) => id)).size).toBe(8);
    expect(performance.now() - from).toBeLessThan(WOKEN_WITHIN_MS);
  });

  test('that were given up hand their hint on to others', async () => {
    const [gone, other, producer] = [
      await store.open(settings),
      await store.open(settings),
      await store.open(),
    ];
    const queue = freshQueue();
    const abort = new AbortController();
    const given = gone.claim(request(queue, { waitMs: 60_000, signal: abort.signal }));
    await blocked(1);
    abort.abort();
    expect((await given).leases).toEqual([]);
    // Its blocking pop stands first in line still: the hint of this job goes there.
    const waiting = claim(other, queue, { waitMs: 60_000 });
    await blocked(2);
    const from = performance.now();
    await put(producer, queue);
    expect(await waiting).toHaveLength(1);
    expect(performance.now() - from).toBeLessThan(WOKEN_WITHIN_MS);
  });

  test('find a job also when its hint is lost', async () => {
    const [worker, other] = [await store.open(settings), await store.open(settings)];
    const queue = freshQueue();
    const waiting = claim(worker, queue, { waitMs: 60_000 });
    await blocked(1);
    // Stored without a hint: a list that is there already keeps the script from adding one.
    await store.client.multi().rpush(hintOf(queue), '1').del(hintOf(queue)).exec();
    await put(other, queue);
    expect(await waiting).toHaveLength(1);
  });

  test('of a queue that is paused end at once', async () => {
    const [worker, operator] = [await store.open(settings), await store.open()];
    const queue = freshQueue();
    const waiting = worker.claim(request(queue, { waitMs: 60_000 }));
    await blocked(1);
    const from = performance.now();
    await operator.pacing.pause(queue, CALL);
    expect((await waiting).paused).toBe(true);
    expect(performance.now() - from).toBeLessThan(WOKEN_WITHIN_MS);
  });

  test('make few calls while nothing happens', async () => {
    await using server = await startRedis();
    const backend = await openBackend({ connection: server.url });
    const admin = new Redis(server.url);
    const calls = async (): Promise<number> => {
      const stats = await admin.info('commandstats');
      return [...stats.matchAll(/cmdstat_(?:blpop|evalsha|eval|lpush):calls=(\d+)/g)]
        .filter(([text]) => !text.includes('lpush'))
        .reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const abort = new AbortController();
    const waiting = backend.claim(request('idle', { waitMs: 60_000, signal: abort.signal }));
    await eventually(async () => (await calls()) >= 2);
    const [before, from] = [await calls(), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    const minutes = (performance.now() - from) / 60_000;
    const made = (await calls()) - before;
    // One more than the rate says may fall into any span.
    expect(made).toBeLessThanOrEqual(backend.capabilities.idleOperationsPerMinute * minutes + 1);
    abort.abort();
    await waiting;
    admin.disconnect();
    await backend.close({ graceMs: 1000 });
  });
});
