import { observeQueues, observeWorker } from '@surety/otel';
import { expect, test } from 'vitest';
import { countingBackend, countsOf } from './support/counting-backend.ts';
import { measured } from './support/measured.ts';
import { attemptEvent, toldWorker } from './support/told-worker.ts';

const QUEUE = 'messaging.destination.name';
const TYPE = 'surety.job.type';

function distinct(points: readonly { readonly attributes: object }[], attribute: string): unknown[] {
  const values = points.map(({ attributes }) => (attributes as Record<string, unknown>)[attribute]);
  return [...new Set(values)];
}

test('types, queues and error classes beyond their limits share one value, and nothing is lost', async () => {
  await using metrics = measured();
  const worker = toldWorker();
  observeWorker(worker, { meter: metrics.meter, limits: { types: 3, queues: 2, errorTypes: 2 } });
  for (let index = 0; index < 500; index++) {
    worker.tell(
      'attempt',
      attemptEvent({
        type: `type-${index % 50}`,
        queue: `queue-${index % 40}`,
        outcome: 'retried',
        code: 'HANDLER_FAILED',
        errorClass: `Class${index % 30}Error`,
      }),
    );
  }
  const seen = await metrics.collect();
  const points = seen.points('surety.job.attempts');
  expect(distinct(points, TYPE)).toEqual(['type-0', 'type-1', 'type-2', '_OTHER']);
  expect(distinct(points, QUEUE)).toEqual(['queue-0', 'queue-1', '_OTHER']);
  expect(distinct(points, 'error.type')).toEqual(['Class0Error', 'Class1Error', '_OTHER']);
  expect(seen.values('surety.job.attempts').reduce((sum, value) => Number(sum) + Number(value), 0)).toBe(500);
});

test('without limits of its own an observation has limits too', async () => {
  await using metrics = measured();
  const worker = toldWorker();
  observeWorker(worker, { meter: metrics.meter });
  for (let index = 0; index < 400; index++) {
    const event = { outcome: 'retried', code: 'HANDLER_FAILED', errorClass: `E${index}` } as const;
    worker.tell('attempt', attemptEvent({ ...event, type: 'one' }));
    worker.tell('attempt', attemptEvent({ type: `type-${index}` }));
    worker.tell('attempt', attemptEvent({ type: 'one', queue: `queue-${index}` }));
  }
  const points = (await metrics.collect()).points('surety.job.attempts');
  expect(distinct(points, TYPE)).toHaveLength(101);
  expect(distinct(points, QUEUE)).toHaveLength(51);
  // Absent where nothing failed.
  expect(distinct(points, 'error.type').filter((value) => value !== undefined)).toHaveLength(31);
});

test.each([
  ['HANDLER_FAILED', 'TypeError', 'TypeError'],
  ['HANDLER_FAILED', 'errors.Declined', 'errors.Declined'],
  ['HANDLER_FAILED', 'Order 01890a5d-ac96-774b-bcce-b302099a8057 failed', '_OTHER'],
  ['HANDLER_FAILED', 'Error: GET /users/17 "x"\n', '_OTHER'],
  ['HANDLER_FAILED', 'E'.repeat(65), '_OTHER'],
  ['HANDLER_FAILED', '', '_OTHER'],
  ['HANDLER_FAILED', null, '_OTHER'],
  ['PERMANENT_FAILURE', 'PermanentError', 'PermanentError'],
  ['TIMEOUT', 'TimeoutError', 'TIMEOUT'],
  ['BACKEND_UNAVAILABLE', 'SuretyError', 'BACKEND_UNAVAILABLE'],
  ['OF_A_NEWER_VERSION', 'SuretyError', '_OTHER'],
  ['toString', 'SuretyError', '_OTHER'],
])('code %s with class %j is labelled %s', async (code, errorClass, label) => {
  await using metrics = measured();
  const worker = toldWorker();
  observeWorker(worker, { meter: metrics.meter });
  worker.tell('attempt', attemptEvent({ outcome: 'dead', code, errorClass }));
  const seen = await metrics.collect();
  expect(distinct(seen.points('surety.job.attempts'), 'error.type')).toEqual([label]);
});

test('an answer that was lost is labelled as unknown', async () => {
  await using metrics = measured();
  const worker = toldWorker();
  observeWorker(worker, { meter: metrics.meter });
  worker.tell('attempt', attemptEvent({ outcome: 'unknown' }));
  const seen = await metrics.collect();
  expect(distinct(seen.points('surety.job.attempts'), 'error.type')).toEqual(['OUTCOME_UNKNOWN']);
  expect(seen.values('surety.job.end_attempt')).toEqual([]);
});

test('a flood of class names does not push out the codes', async () => {
  await using metrics = measured();
  const worker = toldWorker();
  observeWorker(worker, { meter: metrics.meter, limits: { errorTypes: 1 } });
  for (const errorClass of ['A', 'B', 'C'])
    worker.tell('attempt', attemptEvent({ outcome: 'dead', code: 'HANDLER_FAILED', errorClass }));
  worker.tell('attempt', attemptEvent({ outcome: 'dead', code: 'WORKER_LOST', errorClass: 'WorkerLost' }));
  const seen = await metrics.collect();
  expect(distinct(seen.points('surety.job.deaths'), 'error.type')).toEqual(['A', '_OTHER', 'WORKER_LOST']);
});

test('no label carries the id or the message of a job', async () => {
  await using metrics = measured();
  const worker = toldWorker();
  observeWorker(worker, { meter: metrics.meter });
  const event = attemptEvent({
    outcome: 'dead',
    code: 'HANDLER_FAILED',
    errorClass: 'Error',
    message: 'user 17',
  });
  worker.tell('attempt', event);
  worker.tell('lease-lost', { ...event, reason: 'of user 17', loopBlockedMs: 0 });
  const { metrics: all } = await metrics.collect();
  const labels = JSON.stringify(Array.from(all.values(), ({ dataPoints }) => dataPoints));
  expect(labels).not.toContain(event.jobId);
  expect(labels).not.toContain('user 17');
});

test('queues beyond the limit are added up, their ages are not: the oldest counts', async () => {
  const counting = countingBackend();
  const ages: Record<string, number> = { a: 1000, b: 2000, c: 9000, d: 4000 };
  counting.answer.queues = async () => Object.keys(ages);
  counting.answer.counts = async (queue) =>
    countsOf({
      ready: { value: 10, kind: 'exact' },
      oldestReadyAgeMs: { value: ages[queue] ?? 0, kind: 'exact' },
    });
  await using metrics = measured();
  await using _observed = observeQueues(counting.backend, { meter: metrics.meter, limits: { queues: 2 } });
  const seen = await metrics.collect();
  const ready = { 'surety.job.state': 'ready' };
  expect(seen.values('surety.queue.depth', { [QUEUE]: 'a', ...ready })).toEqual([10]);
  expect(seen.values('surety.queue.depth', { [QUEUE]: '_OTHER', ...ready })).toEqual([20]);
  expect(seen.values('surety.queue.oldest_ready_age', { [QUEUE]: 'b' })).toEqual([2]);
  expect(seen.values('surety.queue.oldest_ready_age', { [QUEUE]: '_OTHER' })).toEqual([9]);
  expect(distinct(seen.points('surety.queue.depth'), QUEUE)).toEqual(['a', 'b', '_OTHER']);
});

test('figures of different kinds are different series', async () => {
  const counting = countingBackend();
  counting.answer.queues = async () => ['a', 'b', 'c', 'd'];
  counting.answer.counts = async (queue) =>
    countsOf({ ready: { value: 10, kind: queue === 'c' ? 'lower-bound' : 'approximate' } });
  await using metrics = measured();
  await using _observed = observeQueues(counting.backend, { meter: metrics.meter, limits: { queues: 1 } });
  const seen = await metrics.collect();
  const other = { [QUEUE]: '_OTHER', 'surety.job.state': 'ready' };
  const kind = 'surety.figure.kind';
  expect(seen.values('surety.queue.depth', { ...other, [kind]: 'approximate' })).toEqual([20]);
  expect(seen.values('surety.queue.depth', { ...other, [kind]: 'lower-bound' })).toEqual([10]);
});
