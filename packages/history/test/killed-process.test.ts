import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@surety/core';
import { openTrace, recordFinal } from '@surety/core/trace';
import { checkHistory, openJobs } from '@surety/history';
import { sqlite } from '@surety/sqlite';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { work } from './support/work.ts';

const PROGRAM = fileURLToPath(new URL('programs/traced-worker.ts', import.meta.url));
const JOBS = 120;
const KILLS = 3;
const WAIT = { timeout: 50_000, interval: 50 };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'surety-killed-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('finds a run whole in which workers were killed in the middle of their jobs, and says what it cost', async () => {
  const database = join(folder, 'jobs.db');
  const files = ['run', 'w0', 'w1', 'w2', 'w3', 'w4'].map((name) => join(folder, `${name}.jsonl`));
  const [runFile = '', ...workerFiles] = files;
  const trace = openTrace(runFile);
  const backend = sqlite(database);
  const client = createClient({ backend, trace });
  const items = Array.from({ length: JOBS }, (_, number) => ({
    job: work,
    input: number % 10 === 0 ? 'fails' : 'works',
  }));
  const ids = (await client.enqueueMany(items)).flatMap(({ id }) => id ?? []);
  expect((await openJobs([runFile])).toSorted()).toEqual(ids.toSorted());

  const start = (file: string): ChildProcess => fork(PROGRAM, [database, file]);
  const running = workerFiles.splice(0, 2).map(start);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const victim = running.shift();
    if (victim === undefined) throw new Error('No worker is left.');
    // It has jobs in hand.
    await once(victim, 'message');
    trace.fault('kill-worker');
    victim.kill('SIGKILL');
    await once(victim, 'exit');
    running.push(start(workerFiles.shift() ?? ''));
  }
  await vi.waitFor(async () => {
    const counts = await backend.counts('default', { timeoutMs: 5000 });
    expect([counts.ready.value, counts.scheduled.value, counts.leased.value]).toEqual([0, 0, 0]);
  }, WAIT);
  for (const worker of running) {
    worker.send('stop');
    await once(worker, 'exit');
  }
  await recordFinal(trace, backend, { queues: ['default'], ids });
  trace.close();
  await client.close();

  const { findings, account, complete } = await checkHistory(files);
  expect(findings).toEqual([]);
  expect(complete).toBe(true);
  expect(account).toMatchObject({
    accepted: JOBS,
    completed: JOBS,
    dead: 0,
    lost: 0,
    processes: 1 + 2 + KILLS,
  });
  expect(account.faults).toEqual({ 'kill-worker': KILLS });
  // What was in hand was lost with the process, and ran again.
  expect(account.recovered).toBeGreaterThan(0);
  expect(account.worstRecoveryMs).toBeGreaterThanOrEqual(0);
  expect(account.effects).toBe(JOBS + account.duplicates);
});
