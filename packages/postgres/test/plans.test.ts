import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bindStatements, plainArray } from '../src/sql.ts';
import { connect, useStore } from './store.ts';

const READY = 100_000;
const sql = bindStatements('surety');
const store = useStore();
let client: pg.Client;
let values: Record<
  'settleAndClaim' | 'settleMixedAndClaim' | 'renew' | 'claimAgain' | 'tend' | 'enqueue' | 'enqueueDeduped',
  unknown[]
>;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

interface Explained {
  readonly 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }];
}

/** 100,000 ready jobs, 10,000 scheduled, 10,000 dead, and claims with 5,000 jobs; analysed, as autovacuum would. */
beforeAll(async () => {
  await store.open();
  client = await connect(store.url);
  const queue = 'big';
  await client.query(
    `insert into surety.job (id, seq, fence, created_at, due_at, dead_at, priority, state, queue, type, payload)
     select gen_random_uuid(), n, n, now(), now() + case when n % 12 = 11 then interval '1 day' else interval '0' end,
       case when n % 12 = 10 then now() end, n % 4, case n % 12 when 10 then 2 when 11 then 1 else 0 end, $1, 't', '{}'
     from (select nextval('surety.job_seq') n from generate_series(1, $2::int)) s`,
    [queue, READY * 1.2],
  );
  await client.query(
    `insert into surety.ticket (queue, priority, seq, fence, id, ready_at)
     select queue, priority, seq, fence, id, due_at from surety.job where state = 0 and seq > 6000`,
  );
  await client.query(
    `insert into surety.claim (nonce, until, queue, ids, fences)
     select gen_random_uuid(), now() + interval '1 hour', $1, array_agg(id order by fence), array_agg(fence order by fence)
     from (select id, fence, row_number() over (order by seq) / 25 as part from surety.job where state = 0 and seq <= 6000) s
     group by part`,
    [queue],
  );
  await client.query('analyze');
  const { rows } = await client.query<{ nonce: string; ids: string[]; fences: string[] }>(
    'select nonce::text, ids::text[], fences::text[] from surety.claim limit 1',
  );
  const [claim] = rows;
  if (claim === undefined) throw new Error('no claim');
  const order = claim.ids
    .map((_, n) => n)
    .sort((a, b) => ((claim.ids[a] ?? '') < (claim.ids[b] ?? '') ? -1 : 1));
  const leases = [
    plainArray(order.map((n) => claim.ids[n] ?? '')),
    plainArray(order.map((n) => claim.fences[n] ?? '')),
    plainArray(order.map(() => 1)),
    plainArray([claim.nonce]),
  ];
  const claimed = [plainArray([]), queue, 500, 30_000, randomUUID(), '{0,0,0,0}'];
  const same = (value: number | string): string => plainArray(order.map(() => value));
  const job = [
    [randomUUID()],
    [queue],
    ['t'],
    [1],
    ['{}'],
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
  values = {
    settleAndClaim: [...leases, ...claimed],
    settleMixedAndClaim: [
      ...leases,
      ...claimed,
      same(0),
      same(0),
      same(1),
      same('NULL'),
      order.map(() => '{}'),
      0,
      'c',
      true,
      5,
    ],
    renew: [...leases, 30_000],
    claimAgain: [claim.nonce, queue],
    tend: [queue, 4, 500, 5000],
    enqueue: job,
    enqueueDeduped: [...job, ['k'], [1000]],
  };
});

afterAll(() => client.end());

/** The nodes that read a whole table of jobs or tickets. */
async function tableScans(name: keyof typeof values, mode: string): Promise<string[]> {
  await client.query('begin');
  try {
    await client.query(`set local plan_cache_mode = ${mode}`);
    await client.query(`prepare subject as ${sql[name]}`);
    const given = values[name].map(literal).join(', ');
    const { rows } = await client.query<Explained>(`explain (format json) execute subject (${given})`);
    return whole(rows[0]?.['QUERY PLAN'][0].Plan);
  } finally {
    await client.query('rollback');
    await client.query('deallocate all');
  }
}

/** A value as a literal without a type, as EXECUTE takes it. */
function literal(value: unknown): string {
  if (value === null) return 'null';
  if (!Array.isArray(value)) return pg.escapeLiteral(`${value as string | number | boolean}`);
  return pg.escapeLiteral(`{${value.map((item) => JSON.stringify(String(item))).join(',')}}`);
}

function whole(node: PlanNode | undefined): string[] {
  if (node === undefined) return [];
  const table = node['Relation Name'] ?? '';
  const own = node['Node Type'] === 'Seq Scan' && /^(job|ticket)$/.test(table) ? [table] : [];
  return [...own, ...(node.Plans ?? []).flatMap(whole)];
}

describe('plans with a hundred thousand ready jobs', () => {
  const modes = ['force_generic_plan', 'force_custom_plan'] as const;
  const names = [
    'settleAndClaim',
    'settleMixedAndClaim',
    'renew',
    'claimAgain',
    'tend',
    'enqueue',
    'enqueueDeduped',
  ] as const;
  test.each(modes.flatMap((mode) => names.map((name) => [name, mode] as const)))(
    '%s reads no whole table under %s',
    async (name, mode) => expect(await tableScans(name, mode)).toEqual([]),
  );

  test('the check sees a whole scan where there is one', async () => {
    const { rows } = await client.query<Explained>(
      "explain (format json) select * from surety.ticket where ready_at < now() - interval '1 year'",
    );
    expect(whole(rows[0]?.['QUERY PLAN'][0].Plan)).toEqual(['ticket']);
  });

  test('a claim touches no more than the rows it takes', async () => {
    await client.query('begin');
    const { rows } = await client.query<Explained>(
      `explain (analyze, buffers, format json) ${sql.settleAndClaim}`,
      values.settleAndClaim,
    );
    await client.query('rollback');
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    // About ten pages a job, most of them index pages met again; a scan of the tables would be thousands more.
    expect((plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0)).toBeLessThan(525 * 12);
  });
});
