import { DatabaseSync } from 'node:sqlite';
import type { NewJob, Notice } from '@surety/core/contract';
import { sqlite } from '@surety/sqlite';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { isBusy, mapCommit, mapNative } from '../src/native-errors.ts';
import { account } from './account.ts';
import {
  CALL,
  claim,
  claimOne,
  completed,
  freshFile,
  newJob,
  newJobs,
  opened,
  put,
  QUEUE,
  settle,
} from './asking.ts';

/** Opens a backend and gives its own connection too, to set what is set per connection. */
async function withConnection(
  file: string,
): Promise<{ readonly backend: ReturnType<typeof sqlite>; readonly db: DatabaseSync }> {
  const exec = vi.spyOn(DatabaseSync.prototype, 'exec');
  const backend = await opened(sqlite(file));
  const db = exec.mock.contexts.at(-1);
  exec.mockRestore();
  if (!(db instanceof DatabaseSync)) throw new Error('The backend opened no connection.');
  return { backend, db };
}

/** The write lock, held by somebody else until the test ends or lets go. */
function lock(file: string): () => void {
  const db = new DatabaseSync(file);
  db.exec('begin immediate');
  let held = true;
  const letGo = (): void => {
    if (held) db.close();
    held = false;
  };
  onTestFinished(letGo);
  return letGo;
}

describe('a full disk', () => {
  test('rejects jobs as not stored, and goes on when there is room', async () => {
    const file = freshFile();
    const { backend, db } = await withConnection(file);
    const pages = Number(db.prepare('pragma page_count').get()?.['page_count']);
    db.exec(`pragma max_page_count = ${pages + 4}`);
    let outcome;
    const accepted: NewJob[] = [];
    for (;;) {
      const job = newJob({ payload: `"${'x'.repeat(3000)}"` });
      [outcome] = await backend.enqueue([job], CALL);
      if (outcome?.status !== 'accepted') break;
      accepted.push(job);
      expect(accepted.length).toBeLessThan(100);
    }
    expect(outcome).toMatchObject({ status: 'rejected', error: { code: 'STORE_FULL', retryable: 'yes' } });
    const batch = await backend.enqueue(newJobs(50, { payload: `"${'x'.repeat(3000)}"` }), CALL);
    expect(new Set(batch.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(account(file)).toEqual({ jobs: accepted.length, faults: [] });
    db.exec('pragma max_page_count = 1000000');
    await put(backend, newJob());
    const { leases } = await claim(backend, { max: 500 });
    expect(leases).toHaveLength(accepted.length + 1);
    expect(backend.health().ok).toBe(true);
  });
});

describe('a locked file', () => {
  test('is reported within the time limit, and nothing was done', async () => {
    const file = freshFile();
    const backend = await opened(sqlite(file));
    await put(backend, newJob());
    const lease = await claimOne(backend);
    const letGo = lock(file);
    const short = { timeoutMs: 150 };
    const [outcome] = await backend.enqueue([newJob()], short);
    expect(outcome).toMatchObject({
      status: 'rejected',
      error: { code: 'BACKEND_OVERLOADED', retryable: 'yes' },
    });
    await expect(backend.renew([lease], 60_000, short)).rejects.toMatchObject({ code: 'BACKEND_OVERLOADED' });
    const [ending] = await backend.settle([completed(lease)], short);
    expect(ending).toMatchObject({ status: 'unknown', error: { code: 'BACKEND_OVERLOADED' } });
    // Reading needs no lock.
    expect((await backend.counts(QUEUE, short)).leased.value).toBe(1);
    letGo();
    expect(await settle(backend, completed(lease))).toEqual(['settled']);
    expect(account(file)).toEqual({ jobs: 0, faults: [] });
  });

  test('does not hold up the event loop meanwhile', async () => {
    const file = freshFile();
    const backend = await opened(sqlite(file));
    lock(file);
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
    }, 1);
    await backend.enqueue([newJob()], { timeoutMs: 1000 });
    clearInterval(turning);
    // Held up for the whole second it would be one. A busy machine may swallow many, but not nearly all.
    expect(turns).toBeGreaterThan(20);
  });

  test('is taken as soon as it is free', async () => {
    const file = freshFile();
    const backend = await opened(sqlite(file));
    const letGo = lock(file);
    const jobs = [put(backend, newJob()), put(backend, newJob()), claim(backend)];
    letGo();
    await Promise.all(jobs);
    expect((await backend.counts(QUEUE, CALL)).ready.value).toBeGreaterThanOrEqual(1);
  });

  test('close ends tries that are under way', async () => {
    const file = freshFile();
    const backend = await opened(sqlite(file));
    lock(file);
    const trying = backend.enqueue([newJob()], CALL);
    await backend.close({ graceMs: 100 });
    expect((await trying)[0]).toMatchObject({ status: 'rejected', error: { code: 'BACKEND_CLOSED' } });
  });
});

describe('an error of the disk', () => {
  const native = (errcode: number): Error =>
    Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode });

  test.each([
    [10, 'BACKEND_UNAVAILABLE', 'yes'],
    [10 | (3 << 8), 'BACKEND_UNAVAILABLE', 'yes'],
    [10 | (12 << 8), 'BACKEND_OVERLOADED', 'yes'],
    [10 | (33 << 8), 'STORE_CORRUPT', 'no'],
    [5, 'BACKEND_OVERLOADED', 'yes'],
    [5 | (1 << 8), 'BACKEND_OVERLOADED', 'yes'],
    [7, 'BACKEND_OVERLOADED', 'yes'],
    [8, 'STORE_READ_ONLY', 'no'],
    [11, 'STORE_CORRUPT', 'no'],
    [13, 'STORE_FULL', 'yes'],
    [14, 'BACKEND_UNAVAILABLE', 'yes'],
    [26, 'STORE_CORRUPT', 'no'],
    [1, 'INTERNAL', 'unknown'],
  ])('native %i becomes %s', (errcode, code, retryable) => {
    const cause = native(errcode);
    const error = mapNative(cause, 'enqueue', '/data/jobs.db');
    expect(error).toMatchObject({ code, retryable, cause, adapter: 'sqlite', operation: 'enqueue' });
    expect(error.message).toContain('/data/jobs.db');
  });

  test('at a commit it leaves the outcome open; a full disk does not', () => {
    expect(mapCommit(native(10 | (4 << 8)), 'enqueue', 'f')).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(mapCommit(native(13), 'enqueue', 'f')).toMatchObject({ code: 'STORE_FULL' });
    expect(isBusy(native(5 | (2 << 8)))).toBe(true);
    expect(isBusy(new Error('other'))).toBe(false);
  });

  test('makes the connection anew, and items say whether they may be stored', async () => {
    const file = freshFile();
    const { backend, db } = await withConnection(file);
    const real = Object.getOwnPropertyDescriptor(DatabaseSync.prototype, 'exec')?.value as (
      sql: string,
    ) => void;
    let failing: string | null = 'commit';
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
      this: DatabaseSync,
      sql,
    ) {
      if (sql === failing && this === db) throw native(10 | (4 << 8));
      return real.call(this, sql);
    });
    onTestFinished(() => exec.mockRestore());
    expect((await backend.enqueue([newJob()], CALL))[0]).toMatchObject({ status: 'unknown' });
    expect(backend.health()).toMatchObject({ ok: false });
    failing = 'begin immediate';
    await put(backend, newJob());
    expect(backend.health()).toMatchObject({ ok: true, reason: null });
    expect(exec.mock.contexts.at(-1) === db).toBe(false);
    expect(account(file)).toEqual({ jobs: 1, faults: [] });
  });
});

test('notices carry no payload', async () => {
  const notices: Notice[] = [];
  const backend = await opened(sqlite(freshFile()));
  await backend.open({ ...CALL, notify: (notice) => notices.push(notice) });
  await put(backend, newJob());
  await settle(backend, completed(await claimOne(backend)));
  expect(notices).toEqual([]);
});
