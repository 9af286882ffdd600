import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobView } from '@surety/core';
import { sqlite } from '@surety/sqlite';
import { type Program, runProgram } from '@surety/testbed';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPages } from '../pages.ts';

const CALL = { timeoutMs: 20_000 };
let folder = '';
const programs: Program[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'surety-graceful-'));
});
afterEach(async () => {
  for (const program of programs.splice(0)) await program[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

function start(env: Readonly<Record<string, string>>): Program {
  const worker = runProgram(new URL('../worker.ts', import.meta.url), { cwd: folder, env });
  programs.push(worker);
  return worker;
}

async function enqueue(...reports: readonly string[]): Promise<void> {
  await using program = runProgram(new URL('../enqueue.ts', import.meta.url), { cwd: folder, args: reports });
  expect(await program.exited).toEqual({ code: 0, signal: null });
}

/** Every job that is still stored, by the name of its report. */
async function stored(): Promise<ReadonlyMap<string, JobView>> {
  const backend = sqlite(join(folder, 'jobs.db'));
  await backend.open({ ...CALL, notify: () => undefined });
  const views = new Map<string, JobView>();
  for (const report of ['short-1', 'short-2', 'long-1', 'long-2', 'waiting']) {
    const id = await backend.dedupe?.owner('reports', report, CALL);
    const view = typeof id === 'string' ? await backend.lookup?.find('reports', id, CALL) : null;
    if (view !== null && view !== undefined) views.set(report, view);
  }
  await backend.close({ graceMs: 1000 });
  return views;
}

/** The table has a primary key and the handler only ever inserts: a page that is printed twice is an error of the attempt. */
function printed(report: string): number {
  const pages = openPages(join(folder, 'pages.db'));
  try {
    return pages.count(report);
  } finally {
    pages.close();
  }
}

test('SIGTERM: what can finish does, the rest is handed back, no attempt is burnt, and another worker goes on', async () => {
  await enqueue('short-1=4', 'long-1=300', 'long-2=300', 'short-2=4', 'waiting=2');
  const first = start({ PAGE_MS: '100', DRAIN: '5s' });
  await Promise.all([
    first.says('long-1: page 2, attempt 1'),
    first.says('long-2: page 2, attempt 1'),
    first.says('short-2: page 2, attempt 1'),
  ]);
  first.kill('SIGTERM');
  expect(await first.exited).toEqual({ code: 0, signal: null });
  expect(first.output()).toContain('"abandoned":0');
  expect([printed('short-1'), printed('short-2')]).toEqual([4, 4]);
  const [done1, done2] = [printed('long-1'), printed('long-2')];
  expect(done1).toBeLessThan(300);

  const left = await stored();
  expect([...left.keys()]).toEqual(expect.arrayContaining(['long-1', 'long-2']));
  for (const report of ['long-1', 'long-2']) {
    const { state, attempt, lostClaims, interruptions } = left.get(report) ?? {};
    // Ready at once, and nothing charged: the next start is the first attempt still.
    expect({ report, state, attempt, lostClaims, interruptions }).toEqual({
      report,
      state: 'ready',
      attempt: 0,
      lostClaims: 0,
      interruptions: 1,
    });
  }

  const second = start({ PAGE_MS: '0' });
  await Promise.all([
    second.says(`long-1: page ${done1 + 1}, attempt 1`),
    second.says(`long-2: page ${done2 + 1}, attempt 1`),
    second.says('long-1: page 300, attempt 1'),
    second.says('long-2: page 300, attempt 1'),
  ]);
  second.kill('SIGTERM');
  await second.exited;
  expect(second.output()).not.toMatch(/attempt 2|"outcome":"(retried|dead|lease-lost)"/);
  expect(await stored()).toEqual(new Map());
  expect([printed('long-1'), printed('long-2'), printed('waiting')]).toEqual([300, 300, 2]);
});

test.for([
  { how: 'a second SIGTERM', second: 'SIGTERM' },
  { how: 'kill -9', second: 'SIGKILL' },
] as const)(
  '$how: the job comes back when its lease has ended, one attempt charged, no page twice',
  async ({ second }) => {
    await enqueue('long-1=50');
    const first = start({ PAGE_MS: '200', LEASE: '5s', DRAIN: '10m' });
    await first.says('long-1: page 3, attempt 1');
    if (second === 'SIGTERM') {
      first.kill('SIGTERM');
      await first.says('stopping');
      // It still works off its job: only the second signal ends it.
      await first.says('long-1: page 5, attempt 1');
    }
    first.kill(second);
    expect(await first.exited).toEqual({ code: null, signal: second });
    const done = printed('long-1');
    expect(done).toBeLessThan(50);

    const next = start({ PAGE_MS: '0', LEASE: '5s' });
    await next.says(`long-1: page ${done + 1}, attempt 2`);
    await next.says('long-1: page 50, attempt 2');
    next.kill('SIGTERM');
    expect(await next.exited).toEqual({ code: 0, signal: null });
    expect(next.output()).toMatch(/"attempt":2,.*"outcome":"completed"/);
    expect([printed('long-1'), (await stored()).size]).toEqual([50, 0]);
  },
);
