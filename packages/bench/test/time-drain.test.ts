import type { Backend, Settlement } from '@surety/core/contract';
import { createMemoryStore, type MemoryStore, memory } from '@surety/memory';
import { expect, test } from 'vitest';
import type { Contestant } from '../src/contestants/contestant.ts';
import { suretyOn } from '../src/contestants/surety.ts';
import { describeRun } from '../src/suites/drain.ts';
import { PAYLOAD_BYTES, payloads } from '../src/suites/payloads.ts';
import { type DrainResult, timeDrain } from '../src/suites/time-drain.ts';

const JOBS = 300;
const turn = { round: 1, concurrency: 10, contestant: 'surety' };

/** Surety on one store in memory, with what its worker may get in place of the honest backend. */
function contestantOn(store: MemoryStore, workerBackend: Backend = memory({ store })): Contestant {
  return suretyOn({
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

async function drained(
  contestant: Contestant,
  completionLimitMs: number,
): Promise<{ result: DrainResult; left: number }> {
  await contestant.prepare('client');
  await contestant.fill('client', payloads(JOBS));
  const result = await timeDrain(contestant, {
    location: 'worker',
    jobs: JOBS,
    concurrency: 10,
    limitMs: 60_000,
    completionLimitMs,
  });
  const observer = await contestant.observe('client');
  return { result, left: await observer.jobsLeft() };
}

test('a drain ends when the store is empty and every job was seen once', async () => {
  const { result, left } = await drained(contestantOn(createMemoryStore()), 60_000);
  expect(result).toMatchObject({ starts: JOBS, distinct: JOBS, emptied: true });
  expect(result.handledMs).toBeLessThanOrEqual(result.elapsedMs);
  expect(result.cpuUs).toBeGreaterThan(0);
  const run = describeRun(turn, JOBS, { result, serverCpuUs: 6000 }, left);
  expect(run).toMatchObject({ jobs: JOBS, left: 0, failure: null, serverCpuUsPerJob: 20, ...turn });
  expect(run.throughput).toBeCloseTo((JOBS / result.elapsedMs) * 1000, 6);
});

test('a contestant that forgets to complete is found out by the store', async () => {
  const store = createMemoryStore();
  const { result, left } = await drained(contestantOn(store, forgetful(memory({ store }))), 200);
  expect(result).toMatchObject({ distinct: JOBS, emptied: false });
  const run = describeRun(turn, JOBS, { result, serverCpuUs: null }, left);
  expect(run.failure).toBe(`all jobs were handled, but ${JOBS} are still stored`);
});

test.each([
  [{ starts: JOBS - 1, distinct: JOBS - 1, emptied: true }, '1 jobs were never handled'],
  [{ starts: JOBS, distinct: JOBS - 1, emptied: true }, '1 jobs were never handled'],
  [{ starts: JOBS + 1, distinct: JOBS, emptied: true }, '1 jobs were handled more than once'],
])('%o does not count', (seen, failure) => {
  const result = { elapsedMs: 10, handledMs: 9, cpuUs: 1, ...seen };
  expect(describeRun(turn, JOBS, { result, serverCpuUs: null }, 0).failure).toBe(failure);
});

test('payloads have their stated size and tell the jobs apart', () => {
  const all = payloads(1001);
  expect(new Set(all.map((payload) => JSON.stringify(payload).length))).toEqual(new Set([PAYLOAD_BYTES]));
  expect(all.map(({ n }) => n)).toEqual([...all.keys()]);
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
