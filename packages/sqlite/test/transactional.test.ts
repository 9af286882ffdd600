import { DatabaseSync } from 'node:sqlite';
import { sqlite } from '@surety/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { account } from './account.ts';
import { CALL, claim, freshFile, newJob, newJobs, opened, put, QUEUE } from './asking.ts';

type Options = ConstructorParameters<typeof DatabaseSync>[1];

function application(file: string, options: Options = {}): DatabaseSync {
  const db = new DatabaseSync(file, options);
  onTestFinished(() => db.close());
  return db;
}

test("B121: jobs and the application's own rows come or go together", async () => {
  const file = freshFile();
  const backend = await opened(sqlite(file));
  const db = application(file);
  db.exec('create table orders (id integer primary key)');
  for (const end of ['rollback', 'commit']) {
    db.exec('begin immediate; insert into orders default values');
    const outcomes = await backend.transactional.enqueue(db, [newJob(), newJob({ delayMs: 50_000 })], CALL);
    expect(outcomes.map(({ status }) => status)).toEqual(['accepted', 'accepted']);
    expect((await claim(backend)).leases).toEqual([]);
    db.exec(end);
  }
  expect(db.prepare('select count(*) as n from orders').get()?.['n']).toBe(1);
  const counts = await backend.counts(QUEUE, CALL);
  expect([counts.ready.value, counts.scheduled.value]).toEqual([1, 1]);
  expect(account(file)).toEqual({ jobs: 2, faults: [] });
});

test('a waiting claim is woken by the commit', async () => {
  const file = freshFile();
  const backend = await opened(sqlite(file));
  const db = application(file);
  const waiting = claim(backend, { waitMs: 20_000 });
  db.exec('begin immediate');
  const [outcome] = await backend.transactional.enqueue(db, [newJob()], CALL);
  db.exec('commit');
  expect((await waiting).leases.map(({ id }) => id)).toEqual([outcome?.id]);
});

test('refusals and duplicates leave the transaction usable', async () => {
  const file = freshFile();
  const backend = await opened(sqlite(file));
  const [present] = await put(backend, newJob());
  const db = application(file);
  db.exec('begin immediate');
  const jobs = [present ?? newJob(), newJob({ priority: 9 }), newJob({ maxDepth: 1 }), newJob()];
  const outcomes = await backend.transactional.enqueue(db, jobs, CALL);
  expect(outcomes).toMatchObject([
    { status: 'duplicate', of: present?.id },
    { status: 'rejected', error: { code: 'LIMIT_EXCEEDED' } },
    { status: 'rejected', error: { code: 'QUEUE_FULL' } },
    { status: 'accepted' },
  ]);
  db.exec('commit');
  expect(account(file)).toEqual({ jobs: 2, faults: [] });
});

test('works on a connection with settings of its own', async () => {
  const file = freshFile();
  const backend = await opened(sqlite(file));
  const db = application(file, { readBigInts: true, returnArrays: true });
  db.exec('begin');
  await backend.transactional.enqueue(db, newJobs(3, { dedupe: { key: 'k', windowMs: 60_000 } }), CALL);
  db.exec('commit');
  expect((await claim(backend)).leases).toHaveLength(1);
});

test.each([
  ['what is no connection', 'OPTIONS_INVALID', () => ({})],
  ['a connection without a transaction', 'OPTIONS_INVALID', (file: string) => application(file)],
  ['another file', 'OPTIONS_INVALID', () => begun(application(freshFile()))],
  ['a database in memory', 'OPTIONS_INVALID', () => begun(application(':memory:'))],
  [
    'a connection that does not sync',
    'STORE_UNSUITABLE',
    (file: string) => {
      const db = application(file);
      db.exec('pragma synchronous = normal');
      return begun(db);
    },
  ],
])('refuses %s', async (_, code, make) => {
  const file = freshFile();
  const backend = await opened(sqlite(file));
  const refused = backend.transactional.enqueue(make(file), [newJob()], CALL);
  await expect(refused).rejects.toMatchObject({ code, retryable: 'no' });
});

test('throws what the transaction itself is broken by', async () => {
  const file = freshFile();
  const backend = await opened(sqlite(file));
  const db = application(file);
  // A reader that may not become a writer any more: somebody else has written since it began.
  db.exec('begin');
  db.prepare('select count(*) from surety_job').get();
  await put(backend, newJob());
  const refused = backend.transactional.enqueue(db, [newJob()], CALL);
  await expect(refused).rejects.toMatchObject({ code: 'BACKEND_OVERLOADED', retryable: 'yes' });
});

function begun(db: DatabaseSync): DatabaseSync {
  db.exec('begin');
  return db;
}
