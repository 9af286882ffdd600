import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Backend } from '@surety/core/contract';
import { sqlite } from '@surety/sqlite';
import { startChild } from '@surety/testbed';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CALL, claim, freshFile, newJob, newJobs, opened, put, QUEUE } from './asking.ts';

/** The error of an open that must fail. */
async function refusal(backend: Backend): Promise<unknown> {
  onTestFinished(() => backend.close({ graceMs: 100 }));
  return backend.open({ ...CALL, notify: () => undefined }).then(
    () => 'opened',
    (error: unknown) => error,
  );
}

function onFile(file: string, sql: string): unknown {
  const db = new DatabaseSync(file);
  try {
    return /^\s*(select|pragma \w+$)/.test(sql)
      ? Object.values(db.prepare(sql).get() ?? {})[0]
      : db.exec(sql);
  } finally {
    db.close();
  }
}

describe('open refuses, with a code and what to do', () => {
  test('a folder that does not exist', async () => {
    const file = join(dirname(freshFile()), 'nowhere', 'jobs.db');
    const error = await refusal(sqlite(file));
    expect(error).toMatchObject({ code: 'BACKEND_UNAVAILABLE', retryable: 'yes', operation: 'open' });
    expect(String(error)).toContain('Create it');
  });

  test('a path that is a folder', async () => {
    expect(await refusal(sqlite(dirname(freshFile())))).toMatchObject({ code: 'STORE_CORRUPT' });
  });

  test('a file that is no database', async () => {
    const file = freshFile();
    writeFileSync(file, 'a letter to somebody, longer than the head of a database. '.repeat(20));
    expect(await refusal(sqlite(file))).toMatchObject({ code: 'STORE_CORRUPT', cause: expect.anything() });
    expect(readFileSync(file, 'utf8')).toMatch(/^a letter/);
  });

  test("another program's database, which stays as it was", async () => {
    const file = freshFile();
    onFile(file, 'create table letters (text); insert into letters values (1)');
    const before = readFileSync(file);
    const error = await refusal(sqlite(file));
    expect(error).toMatchObject({ code: 'STORE_CORRUPT' });
    expect(String(error)).toContain('shared: true');
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('an empty database that another program has marked as its own', async () => {
    const file = freshFile();
    onFile(file, 'pragma application_id = 12345');
    expect(await refusal(sqlite(file))).toMatchObject({ code: 'STORE_CORRUPT' });
  });

  test('a schema of a newer version', async () => {
    const file = freshFile();
    await opened(sqlite(file));
    onFile(file, 'update surety_store set version = version + 1');
    expect(await refusal(sqlite(file))).toMatchObject({ code: 'SCHEMA_TOO_NEW', retryable: 'no' });
  });

  test('a file that was cut off', async () => {
    const file = freshFile();
    const first = sqlite(file);
    await first.open({ ...CALL, notify: () => undefined });
    await put(first, ...newJobs(200));
    await first.close({ graceMs: 100 });
    truncateSync(file, 8192);
    const backend = sqlite(file);
    const error = await refusal(backend);
    if (error !== 'opened') return expect(error).toMatchObject({ code: 'STORE_CORRUPT' });
    const [outcome] = await backend.enqueue([newJob()], CALL);
    expect(outcome).toMatchObject({ status: 'rejected', error: { code: 'STORE_CORRUPT', retryable: 'no' } });
    await expect(claim(backend)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    expect(backend.health()).toMatchObject({ ok: false, reason: expect.stringContaining('damaged') });
  });

  test('a folder and a file that may not be written', async () => {
    const file = freshFile();
    const owner = sqlite(file);
    await owner.open({ ...CALL, notify: () => undefined });
    await owner.close({ graceMs: 100 });
    await using child = await startChild(new URL('./programs/without-rights.ts', import.meta.url));
    const openWith = (fileMode: number, folderMode: number): Promise<unknown> => {
      chmodSync(file, fileMode);
      chmodSync(dirname(file), folderMode);
      return child.call('open', { file });
    };
    onTestFinished(() => chmodSync(dirname(file), 0o777));
    expect(await openWith(0o666, 0o777)).toBe('opened');
    expect(await openWith(0o666, 0o555)).toBe('STORE_READ_ONLY');
    expect(await openWith(0o444, 0o777)).toBe('STORE_READ_ONLY');
  });
});

describe('open', () => {
  test('marks a new file and leaves a shared one to its owner', async () => {
    const own = freshFile();
    await opened(sqlite(own));
    expect(onFile(own, 'pragma application_id')).toBe(0x73727479);
    const shared = freshFile();
    onFile(shared, 'create table letters (text); pragma application_id = 7; pragma user_version = 42');
    const backend = await opened(sqlite({ file: shared, shared: true }));
    await put(backend, newJob());
    expect(onFile(shared, 'pragma application_id')).toBe(7);
    expect(onFile(shared, 'pragma user_version')).toBe(42);
    // Once the tables are there the option is not needed any more.
    const other = await opened(sqlite(shared));
    expect((await claim(other)).leases).toHaveLength(1);
  });

  test('syncs every commit and keeps a log', async () => {
    const file = freshFile();
    await opened(sqlite(file));
    expect(onFile(file, 'pragma journal_mode')).toBe('wal');
  });

  test('again while open changes nothing; closed, calls are refused until it is opened anew', async () => {
    const backend = await opened(sqlite(freshFile()));
    await put(backend, newJob());
    await backend.open({ ...CALL, notify: () => undefined });
    expect((await backend.counts(QUEUE, CALL)).ready.value).toBe(1);
    await backend.close({ graceMs: 100 });
    await backend.close({ graceMs: 100 });
    await expect(claim(backend)).rejects.toMatchObject({ code: 'BACKEND_CLOSED' });
    await backend.open({ ...CALL, notify: () => undefined });
    expect((await claim(backend)).leases).toHaveLength(1);
    await backend.close({ graceMs: 100 });
  });

  test('before it, calls say that the backend is not open', async () => {
    const backend = sqlite(freshFile());
    await expect(claim(backend)).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    const [outcome] = await backend.enqueue([newJob()], CALL);
    expect(outcome).toMatchObject({ status: 'rejected', error: { code: 'BACKEND_UNAVAILABLE' } });
    expect(backend.health()).toMatchObject({ ok: false, lastClaimOkAgoMs: null });
  });

  test('two paths to one file are one store', async () => {
    const file = freshFile();
    const link = join(dirname(file), 'link.db');
    const one = await opened(sqlite(file));
    symlinkSync(file, link);
    const other = await opened(sqlite(link));
    await put(one, newJob());
    expect((await claim(other)).leases).toHaveLength(1);
  });

  test('the last one to close leaves one file, without a log', async () => {
    const file = freshFile();
    const backend = await opened(sqlite(file));
    await put(backend, newJob());
    await backend.close({ graceMs: 100 });
    rmSync(`${file}-wal`, { force: true });
    const again = await opened(sqlite(file));
    expect((await claim(again)).leases).toHaveLength(1);
  });
});

test('a file that is removed while it is open is noticed: no job is accepted into nothing for long', async () => {
  const file = freshFile();
  const backend = await opened(sqlite(file));
  await put(backend, newJob());
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix);
  let accepted = 0;
  for (;;) {
    const [outcome] = await backend.enqueue([newJob()], CALL);
    if (outcome?.status !== 'accepted') {
      expect(outcome).toMatchObject({
        status: 'rejected',
        error: { code: 'BACKEND_UNAVAILABLE', retryable: 'yes' },
      });
      break;
    }
    accepted += 1;
    expect(accepted).toBeLessThan(1_000_000);
  }
  expect(backend.health().ok).toBe(false);
  // The error stays until somebody decides to go on with what is there now.
  await expect(claim(backend)).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
  mkdirSync(dirname(file), { recursive: true });
  await backend.open({ ...CALL, notify: () => undefined });
  await put(backend, newJob());
  expect((await backend.counts(QUEUE, CALL)).ready.value).toBe(1);
});

test('B120: ten processes that open an empty path at once all start, round after round', async () => {
  const children = await Promise.all(
    Array.from({ length: 10 }, () => startChild(new URL('./programs/rival.ts', import.meta.url))),
  );
  onTestFinished(async () => void (await Promise.all(children.map((child) => child.kill9()))));
  for (let round = 0; round < 5; round += 1) {
    const file = freshFile();
    const codes = await Promise.all(children.map((child) => child.call('openOnce', { file }, 30_000)));
    expect(codes).toEqual(Array.from({ length: 10 }, () => 'accepted'));
    expect(onFile(file, 'select count(*) from surety_store')).toBe(1);
    expect(onFile(file, 'select ready from surety_queue')).toBe(10);
  }
});
