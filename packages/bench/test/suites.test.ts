import { expect, test } from 'vitest';
import { distinctIn } from '../src/child/seen.ts';
import { Work } from '../src/child/work.ts';
import { withPostgres } from '../src/contestants/postgres-client.ts';
import {
  type BackendName,
  contestantNames,
  loadContestant,
  type SuiteName,
} from '../src/contestants/registry.ts';
import type { Run } from '../src/report.ts';
import { openStore } from '../src/stores/open-store.ts';
import { jobsLeft, Stock } from '../src/stores/stock.ts';
import type { Store } from '../src/stores/store.ts';
import { SUITES } from '../src/suites/all.ts';

/** Small, and no run is cut on a machine that is busy with other things. */
const SMALL = { jobs: 60, warmUp: 60, rounds: 1, concurrency: [3], backlog: 400, limitMs: 120_000 };

async function runSuites(backend: BackendName, suites: readonly SuiteName[]): Promise<readonly Run[]> {
  await using store = await openStore(backend);
  const stock = new Stock(store);
  const options = { ...SMALL, suites };
  const runs: Run[] = [];
  for (const suite of SUITES.filter(({ name }) => suites.includes(name)))
    runs.push(...(await suite.run({ backend, store, stock, options, onRun: () => undefined })));
  return runs;
}

const FIGURES: readonly (readonly [title: string, concurrency: number, metrics: readonly string[]])[] = [
  ['drain', 3, ['throughput', 'cpu', 'memory', 'stored']],
  ['twoProcesses', 50, ['twoProcesses']],
  ['endToEnd', 50, ['endToEnd']],
  ['enqueueSingle', 1, ['enqueueSingle']],
  ['enqueueSingle32', 32, ['enqueueSingle32']],
  ['enqueueBulk1000', 1, ['enqueueBulk1000']],
  ['pickUp', 10, ['pickupP50', 'pickupP99']],
  ['dueTime', 10, ['dueP50', 'dueP95']],
  ['backlog10k', 50, ['backlog10k']],
  ['backlog1M', 50, ['backlog1M']],
  ['backlog1MFuture', 50, ['backlog1MFuture']],
  ['openTransaction', 50, ['openTransaction']],
];

test('every suite counts on SQLite and has its figures', { timeout: 600_000 }, async () => {
  const suites = [...new Set(SUITES.map(({ name }) => name))];
  const runs = (await runSuites('sqlite', suites)).filter(({ contestant }) => contestant === 'surety');
  expect(
    runs.map(({ suite, concurrency, failure, cut, values }) => [
      suite,
      concurrency,
      failure,
      cut,
      Object.keys(values),
    ]),
  ).toEqual(FIGURES.map(([suite, concurrency, metrics]) => [suite, concurrency, null, false, metrics]));
  for (const { values, suite } of runs)
    for (const value of Object.values(values)) expect(value, suite).toBeGreaterThan(0);
  const left = (suite: string): number | undefined => runs.find((run) => run.suite === suite)?.left;
  // A part of 30 was worked off, and what had been started beside it.
  expect(left('backlog1M')).toBeLessThanOrEqual(SMALL.backlog - 30);
  expect(left('backlog1MFuture')).toBe(SMALL.backlog);
  expect(left('enqueueSingle')).toBe(runs.find(({ suite }) => suite === 'enqueueSingle')?.jobs);
});

test.each<BackendName>(['postgres', 'redis', 'rabbitmq'])(
  'every contestant on %s works off a queue',
  { timeout: 600_000 },
  async (backend) => {
    const runs = await runSuites(backend, ['drain']);
    expect(runs.filter(({ failure, cut }) => failure !== null || cut)).toEqual([]);
    expect(runs.map(({ contestant }) => contestant)).toEqual(contestantNames(backend, 'drain'));
  },
);

test.each<BackendName>(['postgres', 'redis', 'sqlite'])(
  'what is loaded on %s is what a producer would leave',
  { timeout: 600_000 },
  async (backend) => {
    await using store = await openStore(backend);
    for (const name of contestantNames(backend, 'backlog')) await checkLoad(backend, name, store);
  },
);

test('rows that are loaded differ from one of a producer in what tells jobs apart, and in nothing else', async () => {
  await using store = await openStore('postgres');
  const contestant = await loadContestant('postgres', 'surety');
  for (const delayMs of [0, 86_400_000]) {
    await using place = await new Stock(store).takeLoaded(contestant, { count: 2500, delayMs });
    const shapes = (table: string, apart: readonly string[]): Promise<unknown> =>
      withPostgres(place.location, async (client) => {
        const { rows } = await client.query<{ shapes: number; rows: number }>(
          `select count(distinct to_jsonb(t) - $1::text[])::int as shapes, count(*)::int as rows from surety.${table} as t`,
          [apart],
        );
        return rows[0];
      });
    expect(await shapes('job', ['id', 'seq', 'fence', 'payload'])).toEqual({ shapes: 1, rows: 2500 });
    // The first job is alone in its ticket, as it was stored alone; the others are 32 in one, as they are in a producer's calls.
    const tickets = delayMs === 0 ? { shapes: 1, rows: 1 + Math.ceil(2499 / 32) } : { shapes: 0, rows: 0 };
    expect(await shapes('ticket', ['ids', 'seq', 'fence'])).toEqual(tickets);
    await withPostgres(place.location, async (client) => {
      const standing = await client.query(
        `select count(*)::int as jobs, coalesce(every(job.seq = place and job.fence = place), true) as "inPlace"
         from surety.ticket, unnest(ids) with ordinality as member (id, nth)
         cross join lateral (select seq + nth - 1 as place) as p
         join surety.job using (id)`,
      );
      expect(standing.rows).toEqual([{ jobs: delayMs === 0 ? 2500 : 0, inPlace: true }]);
      const { rows } = await client.query(
        `select every(rank_by_id = rank_by_seq) as "inOrder", count(distinct octet_length(payload))::int as sizes,
           count(distinct (payload::json ->> 'n'))::int as numbers
         from (
           select payload::text, rank() over (order by id) as rank_by_id, rank() over (order by seq) as rank_by_seq from surety.job
         ) as ranked`,
      );
      expect(rows).toEqual([{ inOrder: true, sizes: 1, numbers: 2500 }]);
    });
  }
});

/** As many as were to be loaded, and each of them is worked off by the contestant's own worker; none of those that are not due. */
async function checkLoad(backend: BackendName, name: string, store: Store): Promise<void> {
  const contestant = await loadContestant(backend, name);
  const stock = new Stock(store);
  const count = 30;
  await using due = await stock.takeLoaded(contestant, { count, delayMs: 0 });
  const what = { concurrency: 5, numbers: count, target: count, untilEmpty: true, completionLimitMs: 60_000 };
  const work = await new Work(contestant, { ...what, location: due.location, limitMs: 60_000 }).run();
  expect({ name, starts: work.starts, distinct: distinctIn([work.seen]), emptied: work.emptied }).toEqual({
    name,
    starts: count,
    distinct: count,
    emptied: true,
  });
  await using later = await stock.takeLoaded(contestant, { count, delayMs: 86_400_000 });
  const idle = await new Work(contestant, { ...what, location: later.location, limitMs: 300 }).run();
  expect({ name, starts: idle.starts, left: await jobsLeft(contestant, later.location) }).toEqual({
    name,
    starts: 0,
    left: count,
  });
}
