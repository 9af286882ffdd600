import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createWorker, handle } from '@surety/core';
import { sqlite } from '@surety/sqlite';
import { runProgram } from '@surety/testbed';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { indexNote, openNotes } from '../notes.ts';

const CALL = { timeoutMs: 20_000 };
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'surety-notes-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function noteIds(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = db.prepare('select id from note order by id').all();
    return rows.map((row) => String(row['id']));
  } finally {
    db.close();
  }
}

async function ready(file: string): Promise<number | null> {
  const backend = sqlite(file);
  await backend.open({ ...CALL, notify: () => undefined });
  const { ready: count } = await backend.counts('search', CALL);
  await backend.close({ graceMs: 1000 });
  return count.value;
}

async function workOff(file: string, count: number): Promise<string[]> {
  const seen: string[] = [];
  const done = Promise.withResolvers<void>();
  const worker = createWorker({
    backend: sqlite(file),
    log: 'none',
    handlers: [
      handle(indexNote, ({ noteId }) => {
        seen.push(noteId);
        if (seen.length === count) done.resolve();
      }),
    ],
  });
  await worker.start();
  await done.promise;
  await worker.stop();
  return seen.sort((a, b) => a.localeCompare(b));
}

test('a note and its job are stored together, or neither', async () => {
  const file = join(folder, 'notes.db');
  await using notes = await openNotes(file);
  const id = await notes.add('buy milk');
  await expect(notes.add(null as unknown as string)).rejects.toThrow();
  expect([noteIds(file), await ready(file)]).toEqual([[id], 1]);
  expect(await workOff(file, 1)).toEqual([id]);
});

test('a backup, taken while notes are written, holds as many jobs as notes, and can be worked off', async () => {
  const file = join(folder, 'notes.db');
  const copy = join(folder, 'copy.db');
  await using notes = await openNotes(file);
  await notes.add('the first');
  await using backup = runProgram(new URL('../backup.ts', import.meta.url), { args: [file, copy] });
  let ended = false;
  const exited = backup.exited.finally(() => {
    ended = true;
  });
  while (!ended) {
    await notes.add('one of many');
    // Nothing here waits for anything outside of this process: without a turn of its own, the end would not be seen.
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(backup.output().replace(/.*ExperimentalWarning.*\n?/, '')).toBe('');
  expect((await exited).code).toBe(0);
  const copied = noteIds(copy);
  expect(copied.length).toBeGreaterThan(0);
  expect(await ready(copy)).toBe(copied.length);
  expect(await workOff(copy, copied.length)).toEqual(copied.sort((a, b) => a.localeCompare(b)));
  expect(noteIds(file).length).toBeGreaterThanOrEqual(copied.length);
});
