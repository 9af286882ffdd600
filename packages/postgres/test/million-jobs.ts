import { startPostgres } from '@surety/testbed';
import pg from 'pg';
import { postgres } from '../src/index.ts';
import { bindStatements, type Sql } from '../src/sql.ts';
import { CALL, connect } from './store.ts';

/** The queue that holds the millions, and one with a handful beside it. */
export const BIG = 'big';
export const SMALL = 'small';
const MILLION = 1_000_000;
/** Ready jobs of the big queue that are leased instead, so many to a claim. */
const LEASED = 5000;
const A_CLAIM = 25;

/** A server with a million ready, a million scheduled and a million dead jobs, and claims with 5,000 more. */
export interface MillionJobs {
  readonly client: pg.Client;
  readonly url: string;
  /** The id of the n-th job: below one million ready or leased, then scheduled, then dead. */
  idOf(n: number): string;
  destroy(): Promise<void>;
}

/** Loaded without a log and without waiting for the disk: what is measured are plans, not the load. Statistics as autovacuum would make them. */
export async function loadMillionJobs(): Promise<MillionJobs> {
  const server = await startPostgres({
    settings: {
      fsync: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      autovacuum: 'off',
      maintenance_work_mem: '256MB',
      max_wal_size: '4GB',
    },
  });
  const url = await server.createDatabase();
  const backend = postgres({ url });
  await backend.open({ ...CALL, notify: () => undefined });
  await backend.close({ graceMs: 1000 });
  const client = await connect(url);
  await client.query('begin');
  // Made anew in this transaction, so that what is written to them needs no log.
  await client.query('truncate surety.job, surety.ticket, surety.claim');
  await withoutIndexes(client, async () => {
    await insertJobs(client, 0, 'now()', 'null');
    await insertJobs(client, 1, "now() + interval '1 day' + n * interval '1 ms'", 'null');
    await insertJobs(client, 2, 'now()', "now() - interval '1 hour' + n * interval '1 us'");
    await client.query(
      // One by one, as jobs that were enqueued apart: the most tickets that there can be.
      `insert into surety.ticket (queue, priority, seq, fence, ready_at, ids)
       select queue, priority, seq, fence, due_at, array[id] from surety.job where state = 0 and seq > $1`,
      [LEASED],
    );
  });
  await client.query(
    `insert into surety.claim (nonce, until, queue, ids, fences)
     select gen_random_uuid(), now() + interval '1 hour', $1, array_agg(id order by fence), array_agg(fence order by fence)
     from (select id, fence, (seq - 1) / $3 as part from surety.job where state = 0 and seq <= $2) s
     group by part`,
    [BIG, LEASED, A_CLAIM],
  );
  await client.query("select setval('surety.job_seq', $1)", [4 * MILLION]);
  await client.query(
    `insert into surety.dedupe (queue, key, job_id, until)
     select $1, 'key ' || n, gen_random_uuid(), now() + interval '1 hour' from generate_series(1, 100000) n`,
    [BIG],
  );
  await client.query('commit');
  await backend.open({ ...CALL, notify: () => undefined });
  await backend.enqueue(
    Array.from({ length: 9 }, (_, n) => ({
      id: `00000000-0000-4000-8000-00000ffff${String(n).padStart(3, '0')}`,
      queue: SMALL,
      type: 't',
      payload: '{}',
      headers: {},
      idempotencyKey: 'k',
      delayMs: n % 3 === 0 ? 60_000 : 0,
      expiresInMs: null,
      priority: 1,
      dedupe: null,
      maxAttempts: null,
      maxDepth: null,
    })),
    CALL,
  );
  await backend.close({ graceMs: 1000 });
  await client.query('vacuum analyze');
  return {
    client,
    url,
    idOf: (n) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
    async destroy() {
      await client.end();
      await server.destroy();
    },
  };
}

async function insertJobs(client: pg.Client, state: number, dueAt: string, deadAt: string): Promise<void> {
  await client.query(
    `insert into surety.job (id, seq, fence, created_at, due_at, dead_at, priority, state, queue, type, payload)
     select ('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, n, n, now(), ${dueAt}, ${deadAt}, n % 4, ${state}, '${BIG}',
       case n % 1000 when 0 then 'rare' else 't' end, '{}'
     from generate_series(${state * MILLION + 1}, ${(state + 1) * MILLION}) n`,
  );
}

/** Builds the indexes of the jobs once, over all rows; as they were defined. */
async function withoutIndexes(client: pg.Client, fill: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid in ('surety.job'::regclass, 'surety.ticket'::regclass) and not indisprimary`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  await fill();
  for (const { definition } of rows) await client.query(definition);
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** What a statement did to the store. */
export interface Explained {
  /** Tables that can be large (claims are few) of which it read all rows. */
  readonly wholeTables: readonly string[];
  readonly indexes: readonly string[];
  /** The most rows that one sort was given. */
  readonly sorted: number;
  /** Pages touched, in memory or not. */
  readonly pages: number;
}

export type PlanMode = 'force_generic_plan' | 'force_custom_plan';

/** Runs a statement and undoes it. */
export async function explain(
  client: pg.Client,
  name: keyof Sql,
  values: readonly unknown[],
  mode: PlanMode,
): Promise<Explained> {
  const text = bindStatements('surety')[name];
  await client.query('begin');
  try {
    await client.query(`set local plan_cache_mode = ${mode}`);
    await client.query(`prepare subject as ${text}`);
    const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`;
    // A session reads catalogs for the first call of a function; those pages are not the statement's.
    await client.query('savepoint first');
    await client.query(`execute subject ${given}`);
    await client.query('rollback to first');
    return await explainText(client, `execute subject ${given}`);
  } finally {
    await client.query('rollback');
    await client.query('deallocate all');
  }
}

/** As `explain`, of a text without parameters, in the transaction that is open. */
export async function explainText(client: pg.Client, text: string): Promise<Explained> {
  const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
    `explain (analyze, buffers, timing off, format json) ${text}`,
  );
  const root = rows[0]?.['QUERY PLAN'][0].Plan;
  if (root === undefined) throw new Error('no plan');
  const nodes = allNodes(root).filter((node) => (node['Actual Loops'] ?? 0) > 0);
  const big = /^(job|ticket|dedupe)$/;
  return {
    wholeTables: nodes
      .filter((node) => node['Node Type'] === 'Seq Scan' && big.test(node['Relation Name'] ?? ''))
      .map((node) => node['Relation Name'] ?? ''),
    indexes: nodes.flatMap((node) => node['Index Name'] ?? []),
    sorted: Math.max(
      0,
      ...nodes
        .filter((node) => node['Node Type'].includes('Sort'))
        .map((node) => (node.Plans?.[0]?.['Actual Rows'] ?? 0) * (node.Plans?.[0]?.['Actual Loops'] ?? 1)),
    ),
    pages: (root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0),
  };
}

function allNodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(allNodes)];
}

/** A value as a literal without a type, as EXECUTE takes it. */
function literal(value: unknown): string {
  if (value === null) return 'null';
  if (!Array.isArray(value)) return pg.escapeLiteral(`${value as string | number | boolean}`);
  return pg.escapeLiteral(`{${value.map((item) => JSON.stringify(String(item))).join(',')}}`);
}
