import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@surety/core';
import { type SqliteBackend, sqlite } from '@surety/sqlite';
import { type Program, runProgram } from '@surety/testbed';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openBooks, type Reconciled } from '../books.ts';
import { QUEUE, reconcileDay } from '../jobs.ts';

const DAY = '2026-05-04';
const CALL = { timeoutMs: 20_000 };
let folder = '';
let programs: Program[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'surety-invoices-'));
});
afterEach(async () => {
  for (const program of programs) await program[Symbol.asyncDispose]();
  programs = [];
  await rm(folder, { recursive: true, force: true });
});

function start(name: string, args: readonly string[] = [], env: Record<string, string> = {}): Program {
  const program = runProgram(new URL(`../${name}`, import.meta.url), {
    cwd: folder,
    args,
    env: { RETRY_BASE_MS: '10', ...env },
  });
  programs.push(program);
  return program;
}

/** What the program said, and its exit code. */
async function run(
  name: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<[number | null, string]> {
  const program = start(name, args, env);
  const { code } = await program.exited;
  return [code, program.output()];
}

async function bringFiles(): Promise<void> {
  await cp(new URL('../data', import.meta.url), folder, { recursive: true });
}

async function onQueue<T>(use: (backend: SqliteBackend) => Promise<T>): Promise<T> {
  const backend = sqlite(join(folder, 'jobs.db'));
  await backend.open({ ...CALL, notify: () => undefined });
  try {
    return await use(backend);
  } finally {
    await backend.close({ graceMs: 1000 });
  }
}

/** Until nothing waits or runs: what is left is done or dead. */
async function atRest(): Promise<void> {
  await onQueue(async (backend) => {
    for (;;) {
      const { ready, scheduled, leased } = await backend.counts(QUEUE, CALL);
      if (ready.value === 0 && scheduled.value === 0 && leased.value === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
}

function entries(): Reconciled[] {
  const books = openBooks(join(folder, 'books.db'));
  try {
    return books.entries(DAY);
  } finally {
    books.close();
  }
}

const GOOD = [
  { day: DAY, invoice: 'INV-1041', openCents: 0 },
  { day: DAY, invoice: 'INV-1042', openCents: 2550 },
  { day: DAY, invoice: 'INV-1044', openCents: 0 },
];

describe('a day', () => {
  test('is reconciled; its bad line is a dead letter with the reason, and is done once the file is corrected', async () => {
    await bringFiles();
    expect(await run('enqueue.ts', [DAY])).toEqual([0, expect.stringContaining(': accepted as ')]);
    const worker = start('worker.ts');
    const reason = 'invoices-2026-05-04.csv, line 4: "1.240,00" is not an amount such as 12.50';
    await worker.says(`PERMANENT_FAILURE, ${reason}`);
    await atRest();
    expect(entries()).toEqual(GOOD);
    const [, status] = await run('status.ts');
    expect(status).toContain('ready 0, scheduled 0, leased 0, dead 1');
    expect(status).toContain(`invoices.reconcile {"day":"${DAY}","line":4}`);
    expect(status).toContain(`after 1 attempts, PERMANENT_FAILURE: ${reason}`);
    expect(status).toContain(`${DAY}: 3 of 4 invoices reconciled`);

    const file = join(folder, `invoices-${DAY}.csv`);
    await writeFile(file, (await readFile(file, 'utf8')).replace('"1.240,00"', '1240.00'));
    expect((await run('redrive.ts'))[1]).toMatch(/: redriven\n$/);
    await atRest();
    expect(entries()).toHaveLength(4);
    expect(await run('watch.ts', [DAY])).toEqual([0, '']);
  });

  test('that is enqueued twice, by whomever, is one job', async () => {
    await bringFiles();
    const [first, second] = await Promise.all([run('enqueue.ts', [DAY]), run('enqueue.ts', [DAY])]);
    expect([first[0], second[0]]).toEqual([0, 0]);
    const said = [first[1], second[1]].map((text) => / (accepted|duplicate) as (\S+)/.exec(text));
    expect(new Set(said.map((match) => match?.[1]))).toEqual(new Set(['accepted', 'duplicate']));
    expect(said[0]?.[2]).toBe(said[1]?.[2]);
    expect(await onQueue(async (backend) => (await backend.counts(QUEUE, CALL)).ready.value)).toBe(1);
  });

  test('that is worked twice leaves the books as they were', async () => {
    await bringFiles();
    await run('enqueue.ts', [DAY]);
    const worker = start('worker.ts');
    await worker.says('DEAD');
    await atRest();
    const before = entries();
    // A second run past the keys: as if they had been forgotten, which is what their window allows one day.
    await onQueue(async (backend) => {
      for (const key of [`day ${DAY}`, ...[2, 3, 4, 5].map((line) => `${DAY} ${line}`)])
        await backend.dedupe?.forget(QUEUE, key, CALL);
      await using client = createClient({ backend });
      expect((await client.enqueue(reconcileDay, { day: DAY })).status).toBe('accepted');
    });
    await atRest();
    expect(entries()).toEqual(before);
    expect(entries()).toEqual(GOOD);
    expect(await onQueue(async (backend) => (await backend.counts(QUEUE, CALL)).dead.value)).toBe(2);
  });

  test('whose file is missing is tried again, dies with the reason where a human looks, and is redriven', async () => {
    await run('enqueue.ts', [DAY]);
    const worker = start('worker.ts');
    const reason = `ENOENT: no such file or directory, open 'invoices-${DAY}.csv'`;
    await worker.says(`DEAD invoices.reconcile-day`);
    await worker.says(`HANDLER_FAILED, ${reason}`);
    const [, status] = await run('status.ts');
    expect(status).toContain(`after 6 attempts, HANDLER_FAILED: ${reason}`);
    const [code, problems] = await run('watch.ts', [DAY]);
    expect([code, problems]).toEqual([1, expect.stringContaining('PROBLEM 1 dead letters')]);
    expect(problems).toContain(`PROBLEM the files of ${DAY} have not been read`);

    await bringFiles();
    await run('redrive.ts');
    await worker.says('PERMANENT_FAILURE');
    await atRest();
    expect(entries()).toEqual(GOOD);
  });

  test('whose payments cannot be read is not half believed', async () => {
    await bringFiles();
    await writeFile(join(folder, `payments-${DAY}.csv`), 'payment,invoice,amount\nP-1,INV-1041,12\n');
    await run('enqueue.ts', [DAY]);
    const worker = start('worker.ts');
    await worker.says(`PERMANENT_FAILURE, payments-${DAY}.csv, line 2: "12" is not an amount such as 12.50`);
    await atRest();
    expect(entries()).toEqual([]);
  });
});

describe('silence', () => {
  test('no worker: the watch says so', async () => {
    await bringFiles();
    await run('enqueue.ts', [DAY]);
    const [code, problems] = await run('watch.ts', [DAY], { MAX_WAIT_MS: '1' });
    expect([code, problems]).toEqual([1, expect.stringMatching(/PROBLEM no worker: .* waits for \d+ ms/)]);
    expect((await run('watch.ts', [DAY]))[1], 'not yet, by the usual limit').not.toContain('no worker');
  });

  test('nothing was ever enqueued: the watch says so', async () => {
    expect(await run('watch.ts', [DAY])).toEqual([1, `PROBLEM the files of ${DAY} have not been read\n`]);
  });

  test('a worker that lives and does not get on says so itself', async () => {
    await bringFiles();
    await run('enqueue.ts', [DAY]);
    await onQueue((backend) => backend.pacing.pause(QUEUE, CALL));
    const worker = start('worker.ts', [], { MAX_WAIT_MS: '1' });
    await worker.says(`ALERT raised: the oldest ready job of ${QUEUE} waits for`);
    expect(entries()).toEqual([]);
    await onQueue((backend) => backend.pacing.resume(QUEUE, CALL));
    await worker.says('DEAD');
    await atRest();
    expect(entries()).toEqual(GOOD);
    worker.kill('SIGTERM');
    expect((await worker.exited).code).toBe(0);
  });
});
