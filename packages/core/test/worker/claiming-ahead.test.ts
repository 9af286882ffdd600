import { defineJob, handle } from '@surety/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { leases, scriptedBackend } from '../support/scripted-backend.ts';
import { deferred, pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job');
const other = defineJob('other', { queue: 'other' });
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

test('nothing is claimed ahead before a handler has ended, nor with long jobs', async () => {
  const backend = scriptedBackend();
  running = trial({ backend, concurrency: 4, handlers: [handle(job, () => sleep(1000))] });
  backend.give(...leases(100));
  await running.worker.start();
  await pass(10_000);
  expect(Math.max(...backend.claims.map(({ max }) => max))).toBeLessThanOrEqual(4);
  expect(backend.settled.filter(({ kind }) => kind === 'release')).toEqual([]);
  expect(running.of('started').length).toBeGreaterThanOrEqual(36);
});

test('short jobs are claimed ahead by time, and never more than 1000', async () => {
  const backend = scriptedBackend();
  running = trial({ backend, concurrency: 4, handlers: [handle(job, () => undefined)] });
  backend.give(...leases(5000));
  await running.worker.start();
  await pass(2000);
  const most = Math.max(...backend.claims.map(({ max }) => max));
  expect(most).toBeGreaterThan(4);
  expect(most).toBeLessThanOrEqual(1000);
  expect(running.of('attempt')).toHaveLength(5000);
});

test('a job held too long goes back unspent, and the worker learns from it', async () => {
  const backend = scriptedBackend();
  let slow = false;
  const end = deferred();
  running = trial({
    backend,
    concurrency: 2,
    handlers: [handle(job, () => (slow ? end.promise : undefined))],
  });
  backend.give(...leases(50));
  await running.worker.start();
  await pass(50);
  slow = true;
  backend.give(...leases(30));
  await pass(200);
  expect(backend.settled.filter(({ kind }) => kind === 'release')).toEqual([]);
  await pass(300);
  const releases = backend.settled.filter(({ kind }) => kind === 'release');
  expect(releases).toHaveLength(28);
  expect(releases).toMatchObject(releases.map(() => ({ reason: 'unstarted', delayMs: 0 })));
  const claims = backend.claims.length;
  end.resolve();
  backend.give(...leases(30));
  await pass(1);
  expect(backend.claims.slice(claims).every(({ max }) => max <= 2)).toBe(true);
});

test.each([
  ['attempts are an upper bound', { attempts: 'upper-bound' as const }, true],
  ['claimAhead is false', {}, false],
])(
  'where %s no more is held than can start, over several queues too',
  async (_name, capabilities, claimAhead) => {
    for (const both of [false, true]) {
      const backend = scriptedBackend({ capabilities, both });
      let live = 0;
      let given = 0;
      const excess: number[] = [];
      const work = async (): Promise<void> => {
        live += 1;
        await sleep(7);
        live -= 1;
      };
      running = trial({
        backend,
        concurrency: 3,
        claimAhead,
        handlers: [handle(job, work), handle(other, work)],
      });
      const ended = running;
      const note = (count: number): void => {
        given += count;
        excess.push(given - ended.of('attempt').length - backend.settled.length + ended.of('attempt').length);
      };
      backend.script.claim = async (_request, plain) => {
        const claim = await plain();
        note(claim.leases.length);
        return claim;
      };
      backend.script.both = async (_settlements, _request, plain) => {
        await sleep(2);
        const answer = plain();
        note(answer.claim.leases.length);
        return answer;
      };
      backend.give(...leases(200), ...leases(200, { queue: 'other', type: 'other' }));
      await running.worker.start();
      await pass(3000);
      expect(running.of('attempt').length).toBe(400);
      // Leased and not yet on its way to be settled: never more than the slots.
      expect(Math.max(...excess)).toBeLessThanOrEqual(3);
      expect(live).toBe(0);
      expect(backend.settled.filter(({ kind }) => kind === 'release')).toEqual([]);
      await stopNow(running.worker);
      running = null;
    }
  },
);

test('never more handlers than slots, whatever is claimed', async () => {
  const backend = scriptedBackend({ both: true });
  let live = 0;
  let most = 0;
  running = trial({
    backend,
    concurrency: 7,
    handlers: [
      handle(job, async () => {
        live += 1;
        most = Math.max(most, live);
        await sleep(Math.random() * 4);
        live -= 1;
      }),
    ],
  });
  backend.give(...leases(1000));
  await running.worker.start();
  await pass(5000);
  expect(running.of('attempt')).toHaveLength(1000);
  expect(most).toBe(7);
});
