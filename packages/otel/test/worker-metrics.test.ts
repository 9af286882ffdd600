import type { Histogram } from '@opentelemetry/sdk-metrics';
import { createClient, createWorker, defineJob, handle, PermanentError, type Worker } from '@surety/core';
import { memory } from '@surety/memory';
import { createVirtualClock } from '@surety/memory/testing';
import { observeWorker } from '@surety/otel';
import { afterEach, expect, test } from 'vitest';
import { eventually, measured } from './support/measured.ts';
import { attemptEvent, toldWorker } from './support/told-worker.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const QUEUE = 'messaging.destination.name';
const TYPE = 'surety.job.type';
const OUTCOME = 'surety.job.outcome';

class PaymentDeclined extends Error {
  override readonly name = 'PaymentDeclined';
}

function stopLater(worker: Worker): Worker {
  stops.push(() => worker.stop({ drain: 0, grace: 0 }));
  return worker;
}

test('jobs that complete, fail, die, are cancelled or put off are counted by type, queue, outcome and error', async () => {
  const retry = { maxAttempts: 3, base: '1ms', cap: '1ms' } as const;
  const send = defineJob<{ fail: number }>('receipt.send', { queue: 'mail', retry });
  const charge = defineJob('card.charge', { queue: 'money', retry });
  const report = defineJob('report.make', { queue: 'mail' });
  const ping = defineJob('ping', { queue: 'mail' });
  const backend = memory();
  let pings = 0;
  const worker = stopLater(
    createWorker({
      backend,
      log: 'none',
      handlers: [
        handle(send, ({ fail }, { attempt }) => {
          if (attempt <= fail) throw new TypeError('no');
        }),
        handle(charge, () => {
          throw new PaymentDeclined('no funds');
        }),
        handle(report, (_input, context) => context.cancel('not wanted')),
        handle(ping, (_input, context) => (pings++ === 0 ? context.snooze('1ms') : undefined)),
      ],
    }),
  );
  await using metrics = measured();
  await using observed = observeWorker(worker, { meter: metrics.meter });
  expect(observed.active).toBe(true);
  let ended = 0;
  worker.on('attempt', ({ outcome }) => {
    if (outcome === 'completed' || outcome === 'cancelled' || outcome === 'dead') ended += 1;
  });
  await worker.start();
  const client = createClient({ backend });
  stops.push(() => client.close());
  await client.enqueue(send, { fail: 0 });
  await client.enqueue(send, { fail: 2 });
  await client.enqueue(charge, {});
  await client.enqueue(report, {});
  await client.enqueue(ping, {});
  await eventually(() => ended === 5, 'all five jobs have ended');

  const seen = await metrics.collect();
  const sends = { [QUEUE]: 'mail', [TYPE]: 'receipt.send' };
  const charges = { [QUEUE]: 'money', [TYPE]: 'card.charge' };
  const attempts = (attributes: Record<string, string>): unknown[] =>
    seen.values('surety.job.attempts', attributes);
  expect(attempts({ ...sends, [OUTCOME]: 'completed' })).toEqual([2]);
  expect(attempts({ ...sends, [OUTCOME]: 'retried', 'error.type': 'TypeError' })).toEqual([2]);
  expect(attempts({ ...charges, [OUTCOME]: 'retried', 'error.type': 'PaymentDeclined' })).toEqual([2]);
  expect(attempts({ ...charges, [OUTCOME]: 'dead', 'error.type': 'PaymentDeclined' })).toEqual([1]);
  expect(attempts({ [TYPE]: 'report.make', [OUTCOME]: 'cancelled' })).toEqual([1]);
  expect(attempts({ [TYPE]: 'ping', [OUTCOME]: 'snoozed' })).toEqual([1]);
  expect(attempts({ [TYPE]: 'ping', [OUTCOME]: 'completed' })).toEqual([1]);
  for (const { attributes } of seen.points('surety.job.attempts')) {
    const failed = attributes[OUTCOME] === 'retried' || attributes[OUTCOME] === 'dead';
    expect('error.type' in attributes).toBe(failed);
  }

  // At which attempt they ended: 1 and 3, 3, 1, and 1 (a snooze is refunded).
  const ends = (attributes: Record<string, string>): unknown[] =>
    seen.values('surety.job.end_attempt', attributes);
  expect(ends({ ...sends, [OUTCOME]: 'completed' })).toEqual([{ sum: 4, count: 2 }]);
  expect(ends({ ...charges, [OUTCOME]: 'dead' })).toEqual([{ sum: 3, count: 1 }]);
  expect(ends({ [TYPE]: 'report.make', [OUTCOME]: 'cancelled' })).toEqual([{ sum: 1, count: 1 }]);
  expect(ends({ [TYPE]: 'ping', [OUTCOME]: 'completed' })).toEqual([{ sum: 1, count: 1 }]);

  expect(seen.values('surety.job.deaths')).toEqual([1]);
  expect(seen.values('surety.job.deaths', { ...charges, 'error.type': 'PaymentDeclined' })).toEqual([1]);
  expect(
    seen.values('messaging.client.consumed.messages', { [QUEUE]: 'money', 'error.type': 'PaymentDeclined' }),
  ).toEqual([3]);
  expect(seen.values('messaging.process.duration', { ...charges, 'error.type': 'PaymentDeclined' })).toEqual([
    { sum: expect.any(Number), count: 3 },
  ]);
  expect(seen.values('surety.job.wait.duration', sends)).toEqual([{ sum: expect.any(Number), count: 4 }]);
});

test('durations are in seconds, in the buckets of the conventions', async () => {
  await using metrics = measured();
  const worker = toldWorker();
  observeWorker(worker, { meter: metrics.meter });
  worker.tell('attempt', attemptEvent({ durationMs: 20, waitMs: 90_000, attempt: 2 }));
  const seen = await metrics.collect();
  expect(seen.values('messaging.process.duration')).toEqual([{ sum: 0.02, count: 1 }]);
  expect(seen.values('surety.job.wait.duration')).toEqual([{ sum: 90, count: 1 }]);
  const bounds = (name: string): readonly number[] =>
    (seen.points(name)[0]?.value as Histogram | undefined)?.buckets.boundaries ?? [];
  expect(bounds('messaging.process.duration')).toEqual([
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
  ]);
  expect(bounds('surety.job.end_attempt').slice(0, 8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(bounds('surety.job.wait.duration').at(-1)).toBe(86_400);
  expect(seen.points('messaging.process.duration')[0]?.attributes).toEqual({
    'messaging.system': 'surety',
    'messaging.operation.name': 'handle',
    [QUEUE]: 'mail',
    [TYPE]: 'receipt.send',
  });
});

test('a job that is buried without a start is a death and an attempt, but nothing ran or waited', async () => {
  // An expiry is written as an instant of this process, and travels as a duration.
  const clock = createVirtualClock(Date.now());
  const backend = memory({ clock });
  const job = defineJob('late', { queue: 'mail' });
  const client = createClient({ backend });
  stops.push(() => client.close());
  await client.enqueue(job, {}, { expiresAt: new Date(clock.now() + 3_600_000) });
  await clock.advance(7_200_000);
  const worker = stopLater(createWorker({ backend, log: 'none', handlers: [handle(job, () => undefined)] }));
  await using metrics = measured();
  observeWorker(worker, { meter: metrics.meter });
  await worker.start();
  const dead = { [TYPE]: 'late', 'error.type': 'EXPIRED' };
  await eventually(
    async () => (await metrics.collect()).values('surety.job.deaths', dead).length === 1,
    'the expired job is buried',
  );
  const seen = await metrics.collect();
  expect(seen.values('surety.job.attempts', { ...dead, [OUTCOME]: 'dead' })).toEqual([1]);
  expect(seen.values('messaging.process.duration')).toEqual([]);
  expect(seen.values('messaging.client.consumed.messages')).toEqual([]);
  expect(seen.values('surety.job.wait.duration')).toEqual([]);
});

test('a permanent error, a timeout and a burial have their own error types', async () => {
  const job = defineJob<string>('hard', { queue: 'mail', timeout: '20ms', retry: { maxAttempts: 1 } });
  const backend = memory();
  const worker = stopLater(
    createWorker({
      backend,
      log: 'none',
      grace: 0,
      handlers: [
        handle(job, (input, context) => {
          if (input === 'bury') return context.bury('no use');
          if (input === 'permanent') throw new PermanentError('never');
          return new Promise((resolve) => context.signal.addEventListener('abort', resolve));
        }),
      ],
    }),
  );
  await using metrics = measured();
  observeWorker(worker, { meter: metrics.meter });
  await worker.start();
  const client = createClient({ backend });
  stops.push(() => client.close());
  for (const input of ['bury', 'permanent', 'hang']) await client.enqueue(job, input);
  const types = async (): Promise<unknown[]> =>
    (await metrics.collect()).points('surety.job.deaths').map(({ attributes }) => attributes['error.type']);
  await eventually(async () => (await types()).length === 3, 'three deaths');
  expect(new Set(await types())).toEqual(new Set(['BURIED', 'PermanentError', 'TIMEOUT']));
});

test('a lease that the store has ended is counted as lost, and its attempt as failed', async () => {
  const clock = createVirtualClock();
  const backend = memory({ clock });
  const job = defineJob('slow', { queue: 'mail', timeout: '1h' });
  const worker = stopLater(
    createWorker({
      backend,
      log: 'none',
      lease: '1s',
      handlers: [
        handle(job, (_input, { signal }) => {
          // Once it runs, the time of the store jumps: the next renewal finds the lease ended.
          void clock.advance(60_000);
          return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        }),
      ],
    }),
  );
  await using metrics = measured();
  observeWorker(worker, { meter: metrics.meter });
  await worker.start();
  const client = createClient({ backend });
  stops.push(() => client.close());
  await client.enqueue(job, {});
  const lost = async (): Promise<number> =>
    Number((await metrics.collect()).values('surety.lease.lost', { [TYPE]: 'slow' })[0] ?? 0);
  await eventually(async () => (await lost()) >= 1, 'a lease is lost');
  await eventually(
    async () =>
      (await metrics.collect()).values('surety.job.attempts', {
        [OUTCOME]: 'lease-lost',
        'error.type': 'LEASE_LOST',
      }).length === 1,
    'its attempt is told',
  );
});

test('a lost lease says whether the event loop stood still', async () => {
  await using metrics = measured();
  const worker = toldWorker();
  observeWorker(worker, { meter: metrics.meter });
  const lost = { jobId: 'x', type: 'slow', queue: 'mail', attempt: 1, reason: 'gone' };
  worker.tell('lease-lost', { ...lost, loopBlockedMs: 0 });
  worker.tell('lease-lost', { ...lost, loopBlockedMs: 900 });
  worker.tell('lease-lost', { ...lost, loopBlockedMs: 700 });
  const seen = await metrics.collect();
  expect(seen.values('surety.lease.lost', { 'surety.event_loop.blocked': false })).toEqual([1]);
  expect(seen.values('surety.lease.lost', { 'surety.event_loop.blocked': true })).toEqual([2]);
});

test('several workers share the instruments, and one that is stopped says no more', async () => {
  await using metrics = measured();
  const [one, two] = [toldWorker(), toldWorker()];
  const observed = observeWorker(one, { meter: metrics.meter, attributes: { store: 'a' } });
  observeWorker(two, { meter: metrics.meter, attributes: { store: 'b' } });
  one.tell('attempt', attemptEvent());
  two.tell('attempt', attemptEvent());
  await observed.stop();
  await observed.stop();
  expect(one.listeners()).toBe(0);
  one.tell('attempt', attemptEvent());
  const seen = await metrics.collect();
  expect(seen.values('surety.job.attempts', { store: 'a' })).toEqual([1]);
  expect(seen.values('surety.job.attempts', { store: 'b' })).toEqual([1]);
});
