import { open, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Finding } from '@surety/core/operator';
import { operator as postgresOperator } from '@surety/postgres/operator';
import { startPgBouncer, startRedis, startRedisCluster, startRedisPair } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { surety, suretyJson } from './run-surety.ts';
import { makeStore, newJob, put, putDead, type StoreKind, type TestStore } from './test-stores.ts';

interface Answer {
  readonly problems: number;
  readonly notes: number;
  readonly findings: readonly Finding[];
}

/** What doctor finds. Whatever is not ok must say what to do, and only a problem changes the exit code. */
async function examine(url: string, code: number, ...words: readonly string[]): Promise<Answer> {
  const answer = await suretyJson<Answer>(['doctor', ...words], { env: { SURETY_URL: url } }, code);
  for (const { level, remedy } of answer.findings) expect(remedy === null).toBe(level === 'ok');
  expect(answer.findings.filter(({ level }) => level === 'problem')).toHaveLength(answer.problems);
  expect(answer.problems > 0).toBe(code === 1);
  return answer;
}

function about({ findings }: Answer, check: string): readonly Finding[] {
  const found = findings.filter((finding) => finding.check === check);
  expect(found).not.toEqual([]);
  return found;
}

describe.each<StoreKind>(['sqlite', 'postgres', 'redis'])('doctor on %s', (kind) => {
  let store: TestStore;

  beforeAll(async () => {
    store = await makeStore(kind);
    await store.migrate();
  });
  afterAll(() => store.destroy());

  it('finds nothing wrong with a store as it should be', async () => {
    const answer = await examine(store.url, 0);
    expect(
      answer.findings.filter(({ level, check }) => level !== 'ok' && check !== 'open-transactions'),
    ).toEqual([]);
    const ofKind = kind === 'redis' ? ['eviction', 'durability', 'memory', 'latency'] : ['open-transactions'];
    for (const check of ['schema', 'clock', ...ofKind, 'trials', 'queues']) about(answer, check);
    const { stdout, code } = await surety(['doctor'], { env: { SURETY_URL: store.url } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok +schema +.*up to date$/m);
    expect(stdout).toMatch(/^0 problems, \d+ notes?$/m);
  });

  it('tells of paused queues, dead letters, and jobs that nobody takes', async () => {
    await store.with(async (backend) => {
      await putDead(backend, [newJob('graves')]);
      await put(backend, [newJob('waiting'), newJob('asleep')]);
      await backend.pacing.pause('asleep', { timeoutMs: 5000 });
    });
    const calm = about(await examine(store.url, 0), 'queues');
    expect(calm.map(({ level, what }) => `${level} ${what}`)).toEqual([
      'note asleep is paused',
      'note graves holds 1 dead letters',
    ]);
    const strict = about(await examine(store.url, 1, '--max-age', '1ms'), 'queues');
    expect(strict.filter(({ level }) => level === 'problem')).toMatchObject([
      { what: expect.stringMatching(/^1 jobs of waiting are ready, the oldest for/) },
    ]);
  });
});

describe('doctor on a SQLite file', () => {
  let store: TestStore;
  let file: string;

  beforeAll(async () => {
    store = await makeStore('sqlite');
    await store.migrate();
    file = store.url.slice('sqlite:'.length);
  });
  afterAll(() => store.destroy());

  it('says that the schema is missing', async () => {
    const blank = join(store.folder, 'blank.db');
    await writeFile(blank, '');
    const answer = await examine(`sqlite:${blank}`, 1);
    expect(about(answer, 'schema')).toMatchObject([{ level: 'problem', remedy: 'Run `surety migrate`.' }]);
    expect(answer.problems).toBe(1);
  });

  it('sees a transaction that keeps the write lock', async () => {
    const rival = new DatabaseSync(file);
    rival.exec('begin immediate');
    const answer = await examine(store.url, 1, '--long-transaction', '50ms', '--timeout', '200ms');
    rival.exec('rollback');
    rival.close();
    expect(about(answer, 'open-transactions')).toMatchObject([
      { level: 'problem', what: expect.stringContaining('held the write lock for more than 50 ms') },
    ]);
    expect(about(answer, 'queues')).toMatchObject([{ level: 'problem' }]);
    await examine(store.url, 0);
  });

  it('sees that the clock was set back', async () => {
    await store.with((backend) => put(backend, [newJob('mail', { delayMs: 86_400_000 })]));
    const db = new DatabaseSync(file);
    db.exec('update surety_store set high = high + 3600000');
    db.close();
    expect(about(await examine(store.url, 0), 'clock')).toMatchObject([
      { level: 'note', what: expect.stringMatching(/set back: the store's is 3\d{6} ms ahead/) },
    ]);
  });

  it('sees a damaged page', async () => {
    const copy = await makeStore('sqlite');
    await copy.migrate();
    await copy.with((backend) =>
      put(
        backend,
        Array.from({ length: 200 }, () => newJob('mail')),
      ),
    );
    const damaged = copy.url.slice('sqlite:'.length);
    const { size } = await stat(damaged);
    const handle = await open(damaged, 'r+');
    await handle.write(Buffer.alloc(4096, 0xff), 0, 4096, size - 4096);
    await handle.close();
    const answer = await examine(copy.url, 1);
    await copy.destroy();
    expect(about(answer, 'integrity')).toMatchObject([
      { level: 'problem', remedy: expect.stringContaining('backup') },
    ]);
  });
});

describe('doctor on PostgreSQL', () => {
  const CALL = { timeoutMs: 15_000 };
  let store: TestStore;

  beforeAll(async () => {
    store = await makeStore('postgres');
    await store.migrate();
  });
  afterAll(() => store.destroy());

  interface Client {
    query(text: string): Promise<unknown>;
  }

  /** A transaction as an application of the same role would have it. */
  async function withTransaction(use: (client: Client) => Promise<void>): Promise<void> {
    await using trial = await postgresOperator.trial({ url: store.url, namespace: null }, CALL);
    const transaction = await trial.transaction!();
    try {
      await use(transaction.tx as Client);
    } finally {
      await transaction.commit();
    }
  }

  it('says that the schema is missing, of the namespace that it was asked for', async () => {
    const answer = await examine(store.url, 1, '--namespace', 'elsewhere');
    expect(about(answer, 'schema')).toMatchObject([
      {
        level: 'problem',
        what: 'elsewhere holds no Surety tables',
        remedy: expect.stringContaining('surety migrate'),
      },
    ]);
  });

  it('names the oldest open transaction, and what a verification has left', async () => {
    await withTransaction(async (client) => {
      await client.query('select 1');
      expect(about(await examine(store.url, 0), 'open-transactions')[0]).toMatchObject({
        level: 'ok',
        what: expect.stringMatching(/^the oldest is \d+ m?s old$/),
      });
      const answer = await examine(store.url, 1, '--long-transaction', '1ms');
      expect(about(answer, 'open-transactions')[0]).toMatchObject({
        level: 'problem',
        what: expect.stringMatching(/^open for \d+ m?s: pid \d+, role .*, idle in transaction$/),
        remedy: expect.stringContaining('pg_terminate_backend'),
      });
      expect(about(answer, 'trials')).toMatchObject([
        {
          level: 'note',
          what: expect.stringContaining('surety_verify_'),
          remedy: expect.stringContaining('cascade'),
        },
      ]);
    });
    expect(about(await examine(store.url, 0), 'trials')).toMatchObject([{ level: 'ok' }]);
  });

  it('sees a table without autovacuum, and one that the role may not write', async () => {
    await withTransaction(async (client) => {
      await client.query('alter table surety.job set (autovacuum_enabled = false)');
      await client.query('revoke delete on surety.ticket from current_user');
    });
    const answer = await examine(store.url, 1);
    expect(about(answer, 'dead-rows')).toMatchObject([
      { level: 'problem', remedy: 'alter table "surety"."job" reset (autovacuum_enabled);' },
    ]);
    expect(about(answer, 'rights')).toMatchObject([
      { level: 'problem', what: 'the role may not read or write: ticket' },
    ]);
    await withTransaction(async (client) => {
      await client.query('alter table surety.job reset (autovacuum_enabled)');
      await client.query('grant delete on surety.ticket to current_user');
    });
    await examine(store.url, 0);
  });

  it('sees that durability was given up', async () => {
    const url = new URL(store.url);
    url.searchParams.set('options', '-c synchronous_commit=off');
    expect(about(await examine(url.href, 1), 'durability')).toMatchObject([
      { level: 'problem', what: expect.stringContaining('takes back jobs that were accepted') },
    ]);
  });

  it('sees a pooler in between, and that it pools by transaction (B119)', async () => {
    await using pooler = await startPgBouncer(store.url);
    expect(about(await examine(store.url, 0), 'pooler')).toMatchObject([{ level: 'ok' }]);
    expect(about(await examine(pooler.url, 0), 'pooler')).toMatchObject([
      {
        level: 'note',
        what: expect.stringContaining('pools by transaction'),
        remedy: expect.stringContaining('listen: false'),
      },
    ]);
  });
});

describe('doctor on Redis', () => {
  /** The first finding of that check on a server with these settings. */
  async function on(
    settings: Readonly<Record<string, string>>,
    check: string,
    code: number,
  ): Promise<Finding> {
    await using server = await startRedis({ settings });
    const [finding] = about(await examine(server.url, code), check);
    if (finding === undefined) throw new Error('nothing was found');
    return finding;
  }

  it.each<[string, Readonly<Record<string, string>>, string, RegExp, RegExp]>([
    ['no log', { appendonly: 'no' }, 'durability', /jobs that were accepted are lost/, /appendonly yes/],
    ['a log that is not synced', { appendfsync: 'no' }, 'durability', /half a minute/, /everysec or always/],
    ['eviction', { 'maxmemory-policy': 'allkeys-lru' }, 'eviction', /may be thrown away/, /noeviction/],
    [
      'a full memory',
      { maxmemory: '1mb' },
      'memory',
      /of 1\.0 MiB in use: soon producers are refused/,
      /maxmemory/,
    ],
    ['missing replicas', { 'min-replicas-to-write': '1' }, 'replication', /0 are in reach/, /replica back/],
  ])('sees %s', async (_what, settings, check, what, remedy) => {
    const finding = await on(settings, check, 1);
    expect(finding.level).toBe('problem');
    expect(finding.what).toMatch(what);
    expect(finding.remedy).toMatch(remedy);
  });

  it('tells what each setting of the log means', async () => {
    expect((await on({ appendfsync: 'always' }, 'durability', 0)).what).toContain('survive power loss');
    expect((await on({}, 'durability', 0)).what).toContain('with the machine up to two seconds are lost');
  });

  it('says that a server is a replica, and tells of those that a primary has', async () => {
    await using pair = await startRedisPair();
    expect(about(await examine(pair.replica.url, 1), 'server')).toMatchObject([
      { level: 'problem', what: expect.stringContaining('a replica') },
    ]);
    expect(about(await examine(pair.primary.url, 0), 'replication')).toMatchObject([
      { level: 'ok', what: expect.stringContaining('with 1 replicas') },
    ]);
  });

  it('looks at every node of a cluster, which it is told by the URL', async () => {
    await using cluster = await startRedisCluster();
    const [url = ''] = cluster.urls;
    expect(about(await examine(`${url}?cluster`, 0), 'server')).toHaveLength(3);
    expect(about(await examine(url, 1), 'server')).toMatchObject([
      { remedy: expect.stringContaining('?cluster') },
    ]);
  });

  it('goes on where the user may ask for nothing', async () => {
    const user = 'limited on >some-word ~surety:* &* +@all -info -config -slowlog';
    await using server = await startRedis({ settings: { user } });
    const answer = await examine(server.url.replace('redis://', 'redis://limited:some-word@'), 0);
    expect(about(answer, 'server')).toMatchObject([
      { level: 'note', remedy: expect.stringContaining('+info') },
    ]);
    expect(about(answer, 'eviction')).toMatchObject([{ level: 'note' }]);
    expect(about(answer, 'clock')).toMatchObject([{ level: 'ok' }]);
  });
});
