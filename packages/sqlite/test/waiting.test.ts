import { StatementSync } from 'node:sqlite';
import { sqlite } from '@surety/sqlite';
import { startChild } from '@surety/testbed';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CALL, claim, claimOne, freshFile, newJob, opened, put, QUEUE, retried, settle } from './asking.ts';

const LONG = { waitMs: 20_000 };
/** Far below the wait, far above what a busy machine needs: the claim was woken. */
const SOON_MS = 10_000;

async function timed<T>(work: Promise<T>): Promise<{ readonly value: T; readonly tookMs: number }> {
  const from = performance.now();
  const value = await work;
  return { value, tookMs: performance.now() - from };
}

describe('a waiting claim', () => {
  test('is woken by another backend of this process at once, without a timer', async () => {
    const file = freshFile();
    const one = await opened(sqlite(file));
    const other = await opened(sqlite(file));
    stopTimers();
    for (let round = 0; round < 20; round += 1) {
      const waiting = claim(one, LONG);
      const elsewhere = claim(one, { ...LONG, queue: 'elsewhere' });
      await new Promise(setImmediate);
      const [job] = await put(other, newJob());
      expect((await waiting).leases.map(({ id }) => id)).toEqual([job?.id]);
      await put(other, newJob({ queue: 'elsewhere' }));
      expect((await elsewhere).leases).toHaveLength(1);
    }
  });

  test('is woken by another process', async () => {
    const file = freshFile();
    const backend = await opened(sqlite(file));
    await using child = await startChild(new URL('./programs/rival.ts', import.meta.url));
    const waiting = timed(claim(backend, LONG));
    expect(await child.call('openOnce', { file }, 30_000)).toBe('accepted');
    const { value, tookMs } = await waiting;
    expect(value.leases).toHaveLength(1);
    expect(tookMs).toBeLessThan(SOON_MS);
  });

  test('is woken when a job comes due, also one that was delayed after the wait began', async () => {
    const backend = await opened(sqlite(freshFile()));
    await put(backend, newJob({ delayMs: 60_000 }));
    const waiting = timed(claim(backend, LONG));
    await put(backend, newJob({ delayMs: 200 }));
    const { value, tookMs } = await waiting;
    expect(value.leases).toHaveLength(1);
    // Timers may fire a little before the due time of the store; the job may not be handed out then.
    expect(value.leases[0]?.waitedMs).toBeGreaterThanOrEqual(0);
    expect(tookMs).toBeGreaterThan(150);
    expect(tookMs).toBeLessThan(SOON_MS);
  });

  test('is woken when the lease of a dead worker ends', async () => {
    const backend = await opened(sqlite(freshFile()));
    await put(backend, newJob());
    await claimOne(backend, { leaseMs: 200 });
    const { value, tookMs } = await timed(claim(backend, LONG));
    expect(value.leases).toMatchObject([{ attempt: 2, lostClaims: 1 }]);
    expect(tookMs).toBeLessThan(SOON_MS);
  });

  test('is woken by a retry, a redrive and a pause', async () => {
    const backend = await opened(sqlite(freshFile()));
    await put(backend, newJob());
    const lease = await claimOne(backend);
    const retryWaits = claim(backend, LONG);
    await settle(backend, retried(lease));
    const [again] = (await retryWaits).leases;
    if (again === undefined) throw new Error('the retry was not claimed');
    const redriveWaits = claim(backend, LONG);
    const error = { code: 'X', name: 'Error', message: 'x', stack: null, attempt: 2 };
    await settle(backend, { kind: 'bury', lease: again, error });
    await backend.deadLetters.redrive(QUEUE, { ids: [lease.id] }, CALL);
    expect((await redriveWaits).leases).toHaveLength(1);
    const pauseWaits = timed(claim(backend, LONG));
    await backend.pacing.pause(QUEUE, CALL);
    const { value, tookMs } = await pauseWaits;
    expect(value).toMatchObject({ leases: [], paused: true });
    expect(tookMs).toBeLessThan(SOON_MS);
  });

  test('B042: ends at once when its signal aborts, and when the backend is closed', async () => {
    const backend = await opened(sqlite(freshFile()));
    const controller = new AbortController();
    const aborted = timed(claim(backend, { ...LONG, signal: controller.signal }));
    const closed = timed(claim(backend, LONG));
    controller.abort();
    expect((await aborted).value).toMatchObject({ leases: [], paused: false });
    await backend.close({ graceMs: 100 });
    expect((await closed).value.leases).toEqual([]);
    expect(Math.max((await aborted).tookMs, (await closed).tookMs)).toBeLessThan(SOON_MS);
    const before = await opened(sqlite(freshFile()));
    expect((await claim(before, { ...LONG, signal: AbortSignal.abort() })).leases).toEqual([]);
  });

  test('ends with nothing after its time', async () => {
    const backend = await opened(sqlite(freshFile()));
    const { value, tookMs } = await timed(claim(backend, { waitMs: 100 }));
    expect(value).toMatchObject({ leases: [], paused: false });
    expect(tookMs).toBeGreaterThanOrEqual(99);
  });

  test('does not miss what this process stored between its look and its wait', async () => {
    const file = freshFile();
    const one = await opened(sqlite(file));
    const other = await opened(sqlite(file));
    stopTimers();
    for (let round = 0; round < 200; round += 1) {
      const [taken] = await Promise.all([claim(one, LONG), put(other, newJob())]);
      expect(taken.leases).toHaveLength(1);
    }
  });
});

test('an idle worker asks the store no more often than stated, and never writes', async () => {
  const backend = await opened(sqlite({ file: freshFile(), pollMs: 50 }));
  await put(backend, newJob({ queue: 'elsewhere' }));
  const gets = vi.spyOn(StatementSync.prototype, 'get');
  const runs = vi.spyOn(StatementSync.prototype, 'run');
  onTestFinished(() => void vi.restoreAllMocks());
  await claim(backend, { waitMs: 2000 });
  // The first looks of a wait come closer together, until the longest pause is reached.
  const allowed = (backend.capabilities.idleOperationsPerMinute * 2) / 60 + 15;
  expect(gets.mock.calls.length).toBeGreaterThan(5);
  expect(gets.mock.calls.length).toBeLessThanOrEqual(allowed);
  expect(runs).not.toHaveBeenCalled();
});

/** No look at the file and no end of a wait comes any more: what still wakes is a direct signal. */
function stopTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}
