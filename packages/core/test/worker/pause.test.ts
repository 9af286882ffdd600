import { createClient, defineJob, handle } from '@surety/core';
import { memory } from '@surety/memory';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { leases, scriptedBackend } from '../support/scripted-backend.ts';
import { deferred, pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job');
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

test('B113: after a pause nothing starts for ten seconds; running jobs settle; a resume is seen in a second', async () => {
  const backend = memory();
  const client = createClient({ backend });
  const first = deferred();
  let starts = 0;
  running = trial({
    backend,
    handlers: [
      handle(job, async () => {
        if (starts++ === 0) await first.promise;
      }),
    ],
  });
  await running.worker.start();
  await client.enqueue(job, {});
  await pass(1000);
  await backend.pacing.pause('default', { timeoutMs: 1000 });
  for (let n = 0; n < 20; n += 1) await client.enqueue(job, { n });
  await pass(5000);
  expect(starts).toBe(1);
  expect(running.of('paused')).toEqual([{ queue: 'default' }]);
  first.resolve();
  await pass(100);
  expect(running.of('attempt')).toMatchObject([{ outcome: 'completed' }]);
  await pass(5000);
  expect(starts).toBe(1);
  await backend.pacing.resume('default', { timeoutMs: 1000 });
  await pass(1100);
  expect(starts).toBe(21);
  expect(running.of('resumed')).toEqual([{ queue: 'default' }]);
  expect(running.worker.health().ok).toBe(true);
  await client.close();
});

test('B113: a worker that learns of a pause hands back what it holds, unspent, and asks only once a second', async () => {
  const backend = scriptedBackend({ both: true });
  let slow = false;
  const end = deferred();
  let slowStarts = 0;
  const work = (): unknown => {
    if (!slow) return undefined;
    slowStarts += 1;
    return slowStarts === 1 ? end.promise : new Promise(() => undefined);
  };
  running = trial({ backend, concurrency: 2, handlers: [handle(job, work)] });
  backend.give(...leases(20));
  await running.worker.start();
  await pass(50);
  slow = true;
  backend.give(...leases(12));
  await pass(1);
  // Two run, ten are held; then one ends, the next starts, and the claim that goes with the settlement brings the news.
  expect(running.of('started')).toHaveLength(22);
  backend.paused = true;
  const claims = backend.claims.length;
  backend.settled.length = 0;
  end.resolve();
  await pass(100);
  const releases = backend.settled.filter(({ kind }) => kind === 'release');
  expect(running.of('paused')).toHaveLength(1);
  expect(releases).toHaveLength(9);
  expect(releases).toMatchObject(releases.map(() => ({ reason: 'unstarted' })));
  await pass(5000);
  expect(running.of('started')).toHaveLength(23);
  expect(backend.claims.length - claims).toBeLessThanOrEqual(8);
});

test('a paused queue leaves the others alone', async () => {
  const backend = scriptedBackend();
  const mail = defineJob('mail', { queue: 'mail' });
  backend.script.claim = (request, plain) =>
    request.queue === 'mail'
      ? Promise.resolve({ leases: [], paused: true, leasedAt: performance.now() })
      : plain();
  running = trial({ backend, handlers: [handle(job, () => undefined), handle(mail, () => undefined)] });
  await running.worker.start();
  backend.give(...leases(50), ...leases(5, { queue: 'mail', type: 'mail' }));
  await pass(2000);
  expect(running.of('attempt')).toHaveLength(50);
  expect(running.of('paused')).toEqual([{ queue: 'mail' }]);
});
