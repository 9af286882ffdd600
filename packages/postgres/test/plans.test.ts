import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainArray, type Sql } from '../src/sql.ts';
import {
  BIG,
  explain,
  explainText,
  loadMillionJobs,
  type MillionJobs,
  type PlanMode,
  SMALL,
} from './million-jobs.ts';
import { connect } from './store.ts';

let store: MillionJobs;
let leases: readonly string[] = [];
let nonce = '';
let count = 0;

beforeAll(async () => {
  store = await loadMillionJobs();
  const { rows } = await store.client.query<{ nonce: string; ids: string[]; fences: string[] }>(
    'select nonce::text, ids::text[], fences::text[] from surety.claim limit 1',
  );
  const [claim] = rows;
  if (claim === undefined) throw new Error('no claim');
  // Ids were given in the order of the fences.
  ({ nonce } = claim);
  count = claim.ids.length;
  leases = [
    plainArray(claim.ids),
    plainArray(claim.fences),
    plainArray(claim.ids.map(() => 1)),
    plainArray([nonce]),
  ];
});

afterAll(() => store.destroy());

const same = (value: number | string): string => plainArray(Array.from({ length: count }, () => value));
const claimed = (queue: string, most: number, floors = '{0,0,0,0}'): unknown[] => [
  queue,
  most,
  30_000,
  randomUUID(),
  floors,
];
const mixed = (): unknown[] => [
  same(0),
  same(0),
  same(1),
  same('NULL'),
  Array.from({ length: count }, () => '{}'),
  0,
  'c',
  true,
  5,
];
const job = [
  [randomUUID()],
  [BIG],
  ['t'],
  [1],
  '[{}]',
  [0],
  null,
  null,
  null,
  null,
  'channel',
  true,
  1000,
  null,
];
const dead = (from: number, many: number): string =>
  plainArray(Array.from({ length: many }, (_, n) => store.idOf(from + n)));

/** A page for each row taken and a few index pages met again and again; a pass over a table would be ten thousand. */
const A_JOB = 12;
const FEW = 120;

const BOTH: readonly PlanMode[] = ['force_generic_plan', 'force_custom_plan'];
const CUSTOM: readonly PlanMode[] = ['force_custom_plan'];

/**
 * What the statement is given, and the pages that it may touch. Where values decide which way to go (a null for "any"), the
 * plan without values is not asked for: the adapter never prepares its statements.
 */
const subjects: readonly (readonly [
  what: string,
  name: keyof Sql,
  values: () => readonly unknown[],
  pages: number,
  modes?: readonly PlanMode[],
])[] = [
  ['a claim of 500', 'claim', () => claimed(BIG, 500), 500 * A_JOB],
  ['a claim of one', 'claim', () => claimed(BIG, 1), FEW],
  ['a claim of a small queue', 'claim', () => claimed(SMALL, 500), 2 * FEW],
  ['a claim of an empty queue', 'claim', () => claimed('none', 500), FEW],
  ['completions', 'complete', () => [...leases, '{}'], 25 * A_JOB + FEW],
  [
    'completions with a claim',
    'completeAndClaim',
    () => [...leases, '{}', ...claimed(BIG, 500)],
    525 * A_JOB,
  ],
  [
    'settlements of all kinds with a claim',
    'settleAndClaim',
    () => [...leases, '{}', ...mixed(), ...claimed(BIG, 500)],
    550 * A_JOB,
  ],
  ['settlements of all kinds', 'settle', () => [...leases, '{}', ...mixed()], 25 * 2 * A_JOB + FEW],
  ['a renewal', 'renew', () => [...leases, 30_000], 25 * A_JOB + FEW],
  [
    'a repeated claim',
    'claimAgain',
    () => [JSON.parse(`"${leases[3]?.slice(1, -1)}"`), BIG],
    25 * A_JOB + FEW,
  ],
  ['tending a big queue', 'tend', () => [BIG, 50, 500, 5000], FEW],
  ['tending an empty queue', 'tend', () => ['none', 50, 500, 5000], FEW],
  ['an enqueue', 'enqueueNew', () => job, FEW],
  [
    'an enqueue of jobs that are alike',
    'enqueueAlike',
    () => [job[0], BIG, 't', 1, null, '[{}]', 'channel', true],
    FEW,
  ],
  ['an enqueue that may be a repetition', 'enqueue', () => job, FEW],
  ['an enqueue with a key that is held', 'enqueueDeduped', () => [...job, ['key 7'], [1000]], FEW],
  ['who holds keys and ids', 'dedupeOwners', () => [[BIG], ['key 7'], [store.idOf(5)]], FEW],
  ['freeing a key', 'dedupeForget', () => [BIG, 'key 7'], FEW],
  ['the depth, up to 1000', 'depth', () => [BIG, 1000], FEW],
  ['a sweep', 'sweep', () => [1000, 0], FEW],
  ['pausing', 'pause', () => [BIG, 'c', true], FEW],
  ['resuming', 'resume', () => [BIG, 'c', true], FEW],
  ['the list of queues, among them of 200 claims', 'queues', () => [], 200 * 6 + FEW],
  ['a ready job', 'lookup', () => [BIG, store.idOf(500_000)], 2 * FEW],
  ['the first page of dead letters', 'deadList', () => [BIG, null, 101, null, null], 101 + FEW],
  [
    'a later page',
    'deadList',
    () => [BIG, null, 101, String((Date.now() - 60_000) * 1000), store.idOf(2_500_000)],
    101 + FEW,
    CUSTOM,
  ],
  // Found by walking the dead letters of the queue: no index has their type.
  [
    'a page of a type that each thousandth has',
    'deadList',
    () => [BIG, 'rare', 101, null, null],
    6000,
    CUSTOM,
  ],
  ['one dead letter', 'deadShow', () => [BIG, store.idOf(2_500_000)], FEW],
  ['picking dead letters', 'redrivePick', () => [BIG, null, 1000], 2 * FEW],
  ['a redrive', 'redriveIds', () => [BIG, dead(2_500_000, 100), 'c', true], 100 * 30],
  ['a discard', 'discardIds', () => [BIG, dead(2_500_000, 100)], 100 * A_JOB],
  ['a discard of the oldest', 'discardSome', () => [BIG, null, 100], 100 * A_JOB],
  ['the figures of a small queue', 'counts', () => [SMALL], FEW, CUSTOM],
];
const cases = subjects.flatMap(([what, name, values, pages, modes = BOTH]) =>
  modes.map((mode) => [what, mode, name, values, pages] as const),
);

describe('with a million ready, a million scheduled and a million dead jobs', () => {
  test.each(cases)('%s reads no whole table and few pages (%s)', async (_what, mode, name, values, pages) => {
    const told = await explain(store.client, name, values(), mode);
    expect(told.wholeTables).toEqual([]);
    expect(told.sorted).toBeLessThanOrEqual(1000);
    expect(told.pages).toBeLessThanOrEqual(pages);
  });

  test('the figures of the big queue come from indexes and tickets, never from the wide jobs', async () => {
    const told = await explain(store.client, 'counts', [BIG], 'force_custom_plan');
    expect(told.wholeTables.filter((table) => table === 'job')).toEqual([]);
    const { rows } = await store.client.query<{ pages: number }>(
      `select sum(pg_relation_size(c) / 8192)::int as pages
       from unnest(array['surety.ticket', 'surety.ticket_order', 'surety.job_scheduled', 'surety.job_dead']::regclass[]) as c`,
    );
    // And the leased jobs, one by one.
    expect(told.pages).toBeLessThanOrEqual((rows[0]?.pages ?? 0) * 2 + 5000 * 8);
  });

  test('the check sees a whole scan and a great sort where there is one', async () => {
    const told = await explainText(
      store.client,
      "select * from surety.dedupe where job_id <> '00000000-0000-4000-8000-000000000001' order by until desc, job_id",
    );
    expect(told.wholeTables).toEqual(['dedupe']);
    expect(told.sorted).toBeGreaterThan(90_000);
    expect(told.pages).toBeGreaterThan(500);
  });

  test('the function enqueues by indexes too', async () => {
    await store.client.query('begin');
    const told = await explainText(
      store.client,
      `select surety.enqueue('t', '{}', '${SMALL}', dedupe_key => 'new', max_depth => 1000)`,
    );
    await store.client.query('rollback');
    expect(told.pages).toBeLessThanOrEqual(3 * FEW);
  });
});

describe('with an old open transaction', () => {
  test('a claim above its floor does not walk the tickets that are gone', async () => {
    const old = await connect(store.url);
    await old.query('begin isolation level repeatable read');
    await old.query('select count(*) from surety.paused');
    await store.client.query('delete from surety.ticket where queue = $1 and seq <= 205000', [BIG]);
    const floors = '{205000,205000,205000,205000}';
    const above = await explain(store.client, 'claim', claimed(BIG, 1, floors), 'force_generic_plan');
    const below = await explain(store.client, 'claim', claimed(BIG, 1), 'force_generic_plan');
    expect(above.pages).toBeLessThanOrEqual(FEW);
    expect(below.pages).toBeGreaterThan(3 * FEW);
    await old.query('rollback');
    await old.end();
  });
});
