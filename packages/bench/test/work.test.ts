import type { Backend, Settlement } from '@surety/core/contract';
import { createMemoryStore, type MemoryStore, memory } from '@surety/memory';
import { expect, test } from 'vitest';
import { distinctIn, Seen } from '../src/child/seen.ts';
import { Work, type WorkRequest, type WorkResult } from '../src/child/work.ts';
import type { Contestant } from '../src/contestants/contestant.ts';
import { fill } from '../src/contestants/fill.ts';
import { PAYLOAD_BYTES, payloads } from '../src/contestants/payloads.ts';
import { suretyOn } from '../src/contestants/surety.ts';
import { cpuPerJob, workFigures } from '../src/suites/work-figures.ts';

const JOBS = 300;
const all: WorkRequest = {
  location: 'worker',
  concurrency: 10,
  numbers: JOBS,
  target: JOBS,
  untilEmpty: true,
  limitMs: 60_000,
  completionLimitMs: 60_000,
};

/** Surety on one store in memory, with what its worker may get in place of the honest backend. */
function contestantOn(store: MemoryStore, workerBackend: Backend = memory({ store })): Contestant {
  return suretyOn({
    name: 'surety',
    log: 'none',
    packages: [],
    backend: (location) => (location === 'worker' ? workerBackend : memory({ store })),
    observe: async () => {
      const observer = memory({ store });
      await observer.open({ notify: () => undefined, timeoutMs: 1000 });
      const jobsLeft = async (): Promise<number> => {
        const { ready, scheduled, leased, dead } = await observer.counts('bench', { timeoutMs: 1000 });
        return [ready, scheduled, leased, dead].reduce((sum, { value }) => sum + (value ?? 0), 0);
      };
      return {
        jobsLeft,
        isEmpty: async () => (await jobsLeft()) === 0,
        close: () => observer.close({ graceMs: 1000 }),
      };
    },
  });
}

async function worked(
  contestant: Contestant,
  request: WorkRequest,
): Promise<{ work: WorkResult; left: number }> {
  await contestant.prepare('client');
  await fill(contestant, 'client', { count: JOBS, delayMs: 0 });
  const work = await new Work(contestant, request).run();
  const observer = await contestant.observe('client');
  return { work, left: await observer.jobsLeft() };
}

test('the work ends when the store is empty and every job was seen once', async () => {
  const { work, left } = await worked(contestantOn(createMemoryStore()), all);
  expect(work).toMatchObject({ handled: JOBS, starts: JOBS, cut: false, emptied: true });
  expect(distinctIn([work.seen])).toBe(JOBS);
  expect(work.handledAt).toBeLessThanOrEqual(work.endedAt);
  expect(work.peakBytes).toBeGreaterThan(1e6);
  expect(work.cpuUs).toBeGreaterThan(0);

  const { figures, rate } = workFigures({ stored: JOBS, works: [work], concurrency: 10, wholly: true, left });
  expect(figures).toEqual({ jobs: JOBS, cut: false, left: 0, failure: null });
  expect(rate).toBeCloseTo((JOBS / (work.endedAt - work.startedAt)) * 1000, 6);
  expect(cpuPerJob([work], [null, 5])).toBe(work.cpuUs / JOBS);
  expect(cpuPerJob([work], [1000, 4000])).toBe((work.cpuUs + 3000) / JOBS);
});

test('a contestant that forgets to complete is found out by the store, in a whole run and in a part of one', async () => {
  const whole = createMemoryStore();
  const first = await worked(contestantOn(whole, forgetful(memory({ store: whole }))), {
    ...all,
    completionLimitMs: 100,
  });
  expect(first.work).toMatchObject({ handled: JOBS, emptied: false });
  const of = { stored: JOBS, concurrency: 10 };
  expect(workFigures({ ...of, works: [first.work], wholly: true, left: first.left }).figures.failure).toBe(
    `${JOBS} of ${JOBS} jobs were handled, but ${JOBS} are still stored`,
  );

  const part = createMemoryStore();
  const second = await worked(contestantOn(part, forgetful(memory({ store: part }))), {
    ...all,
    target: 100,
    untilEmpty: false,
  });
  const { failure } = workFigures({ ...of, works: [second.work], wholly: false, left: second.left }).figures;
  expect(failure).toMatch(/^\d+ of 300 jobs were handled, but 300 are still stored$/);
});

test('a run that has no more time is cut, and its rate is the one until then', async () => {
  const contestant = contestantOn(createMemoryStore());
  // One job never comes: the target is out of reach.
  const { work, left } = await worked(contestant, { ...all, target: JOBS + 1, limitMs: 1000 });
  expect(work).toMatchObject({ cut: true, emptied: true });
  const { figures, rate } = workFigures({ stored: JOBS, works: [work], concurrency: 10, wholly: true, left });
  expect(figures).toMatchObject({ jobs: work.handled, cut: true, failure: null });
  expect(rate).toBeCloseTo((work.handled / (work.handledAt - work.startedAt)) * 1000, 6);
});

test('one that is told to end ends as if it had reached its target', async () => {
  const contestant = contestantOn(createMemoryStore());
  await fill(contestant, 'client', { count: JOBS, delayMs: 0 });
  const work = new Work(contestant, { ...all, target: JOBS + 1 });
  const result = work.run();
  await work.started;
  await expect.poll(() => work.handled, { timeout: 60_000 }).toBe(JOBS);
  work.finish();
  expect(await result).toMatchObject({ handled: JOBS, cut: false, emptied: true });
});

test('the figures of two workers are those of both', () => {
  const [one, other] = [new Seen(20), new Seen(20)];
  for (let n = 0; n < 12; n += 1) one.add(n);
  for (let n = 12; n < 20; n += 1) other.add(n);
  const common = { handledAt: 0, cut: false, emptied: true, cpuUs: 10, peakBytes: 1 };
  const works = [
    { ...common, startedAt: 1000, endedAt: 1300, handled: 12, starts: 12, seen: one.text() },
    { ...common, startedAt: 1100, endedAt: 1400, handled: 8, starts: 8, seen: other.text() },
  ];
  const what = { stored: 20, concurrency: 5, works, wholly: true, left: 0 };
  expect(workFigures(what)).toEqual({
    figures: { jobs: 20, cut: false, left: 0, failure: null },
    rate: 50,
  });
  expect(workFigures({ ...what, from: 900 }).rate).toBe(40);
  other.add(3);
  const twice = [works[0] as WorkResult, { ...(works[1] as WorkResult), starts: 9, seen: other.text() }];
  expect(workFigures({ ...what, works: twice }).figures.failure).toBe('1 jobs were handled more than once');
});

test('a job of another number is refused', () => {
  const seen = new Seen(3);
  expect(() => seen.add(3)).toThrow('there is no job 3');
  expect(() => seen.add(8)).toThrow('there is no job 8');
});

test('payloads have their stated size and tell the jobs apart', () => {
  const made = payloads(1001);
  expect(new Set(made.map((payload) => JSON.stringify(payload).length))).toEqual(new Set([PAYLOAD_BYTES]));
  expect(made.map(({ n }) => n)).toEqual([...made.keys()]);
});

/** Answers `settled` and sends nothing. */
function forgetful(backend: Backend): Backend {
  const settle = async (settlements: readonly Settlement[]): ReturnType<Backend['settle']> =>
    settlements.map(() => ({ status: 'settled' as const }));
  const { settleAndClaim: _, ...others } = backend;
  return {
    ...others,
    settle,
    async settleAndClaim(settlements, request) {
      return { outcomes: await settle(settlements), claim: await backend.claim(request) };
    },
  };
}
