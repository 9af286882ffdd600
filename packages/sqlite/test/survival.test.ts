import { existsSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { sqlite } from '@surety/sqlite';
import { type Child, startChild } from '@surety/testbed';
import { expect, onTestFinished, test } from 'vitest';
import { account } from './account.ts';
import { CALL, claim, completed, freshFile, newJobs, opened, put, QUEUE, settle } from './asking.ts';

const RIVAL = new URL('./programs/rival.ts', import.meta.url);

async function start(): Promise<Child> {
  const child = await startChild(RIVAL);
  onTestFinished(async () => void (await child.kill9()));
  return child;
}

/** What a child wrote down before it was killed; a line that was cut off counts for nothing. */
function readNotes(logs: readonly string[]): Map<string, string[]> {
  const notes = new Map<string, string[]>();
  for (const log of logs) {
    const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [];
    for (const line of lines) {
      const [what = '', id = ''] = line.split(' ');
      notes.set(what, [...(notes.get(what) ?? []), id]);
    }
  }
  return notes;
}

test('eight rival processes drain one file: every job once, none of them starved', async () => {
  const file = freshFile();
  const backend = await opened(sqlite(file));
  const jobs = newJobs(4000);
  for (let at = 0; at < jobs.length; at += 500) await put(backend, ...jobs.slice(at, at + 500));
  const rivals = await Promise.all(Array.from({ length: 8 }, start));
  const logs = rivals.map((_, index) => `${file}.${index}.log`);
  const done = await Promise.all(
    rivals.map((rival, index) => rival.call<number>('drain', { file, log: logs[index] }, 120_000)),
  );
  expect(done.reduce((sum, count) => sum + count, 0)).toBe(jobs.length);
  // A fair share is 500. One that was let in by chance alone would get a few.
  for (const count of done) expect(count).toBeGreaterThan(50);
  const ended = readNotes(logs).get('done') ?? [];
  expect(ended.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
  expect(account(file)).toEqual({ jobs: 0, faults: [] });
});

test('B002: processes killed at any moment while they enqueue, claim and settle lose nothing', async () => {
  const file = freshFile();
  const backend = await opened(sqlite(file));
  const logs: string[] = [];
  const spawn = async (): Promise<Child> => {
    const child = await start();
    const log = `${file}.${logs.length}.log`;
    logs.push(log);
    await child.call('work', { file, log }, 30_000);
    return child;
  };
  let children = await Promise.all([spawn(), spawn(), spawn()]);
  for (let round = 0; round < 8; round += 1) {
    // At no special moment: the three are in the middle of whatever they do.
    await sleep(50 + Math.random() * 150);
    const [victim, ...others] = children;
    await victim?.kill9();
    expect(account(file).faults).toEqual([]);
    children = [...others, await spawn()];
  }
  await Promise.all(children.map((child) => child.kill9()));

  const notes = readNotes(logs);
  const accepted = new Set(notes.get('accepted'));
  const done = notes.get('done') ?? [];
  expect(accepted.size).toBeGreaterThan(100);
  expect(new Set(done).size).toBe(done.length);
  // Accepted and neither ended nor stored would be lost. A settlement may have been committed and not noted any more: then
  // the intent was, before it was sent.
  const stored = new Set(storedIds(file));
  const sent = new Set(notes.get('ending'));
  expect([...accepted].filter((id) => !stored.has(id) && !sent.has(id))).toEqual([]);
  expect(done.filter((id) => stored.has(id))).toEqual([]);

  // What the dead ones hold comes back when their leases end, and everything can be finished.
  endLeases(file);
  let left = stored.size;
  while (left > 0) {
    const { leases } = await claim(backend, { max: 500 });
    expect(leases.length).toBeGreaterThan(0);
    expect(new Set(await settle(backend, ...leases.map(completed)))).toEqual(new Set(['settled']));
    left -= leases.length;
  }
  expect(account(file)).toEqual({ jobs: 0, faults: [] });
  expect(await backend.queues(CALL)).toEqual([]);
});

test('the log stays small, and freed room is used again', async () => {
  const file = freshFile();
  const backend = await opened(sqlite(file));
  const other = await opened(sqlite(file));
  const run = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      await put(round % 2 === 0 ? backend : other, ...newJobs(100, { payload: `"${'x'.repeat(500)}"` }));
      const { leases } = await claim(round % 2 === 0 ? other : backend, { max: 100 });
      await settle(backend, ...leases.map(completed));
    }
  };
  await run(50);
  const before = sizeOf(file);
  await run(250);
  const after = sizeOf(file);
  // 25,000 jobs more went through. A log is copied back at 4 MiB; one transaction may still be added.
  expect(after.log).toBeLessThan(6 * 1024 * 1024);
  expect(after.data).toBeLessThanOrEqual(before.data + 512 * 1024);
  expect((await backend.counts(QUEUE, CALL)).ready.value).toBe(0);
});

function sizeOf(file: string): { readonly data: number; readonly log: number } {
  return { data: readFileSync(file).length, log: readFileSync(`${file}-wal`).length };
}

function storedIds(file: string): string[] {
  const db = new DatabaseSync(file);
  try {
    return db
      .prepare('select id from surety_job')
      .all()
      .map((row) => String(row['id']));
  } finally {
    db.close();
  }
}

/** Sets the ends of all leases to the past, in place of waiting a minute for them. */
function endLeases(file: string): void {
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec('update surety_claim set until = 1');
  db.close();
}
