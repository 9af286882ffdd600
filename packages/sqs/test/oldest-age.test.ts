import { type SqsServer, startSqs } from '@surety/testbed';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { namesOf } from '../src/names.ts';
import { CALL, connected, newJob } from './emulator.ts';
import { reply, type StubService, startStub } from './stub-service.ts';

let server: SqsServer;
let metrics: StubService;
beforeAll(async () => {
  server = await startSqs({ durable: false });
  metrics = await startStub();
});
afterAll(async () => {
  await server.destroy();
  await metrics[Symbol.asyncDispose]();
});
beforeEach(() => {
  metrics.heard.length = 0;
  // Where the AWS SDK looks for it.
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDWATCH', metrics.endpoint);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** Points of the metric, newest first: minutes ago, and the age in seconds. */
function answerWith(points: readonly (readonly [number, number])[]): void {
  metrics.answer = (_, response) =>
    reply(response, 200, {
      Label: 'ApproximateAgeOfOldestMessage',
      Datapoints: points.map(([minutes, Maximum]) => ({
        Timestamp: Date.now() / 1000 - minutes * 60,
        Maximum,
        Unit: 'Seconds',
      })),
    });
}

test('without CloudWatch it is an upper bound, and says so', async () => {
  const backend = await connected(server);
  expect(backend.capabilities.oldestReadyAge).toBe('upper-bound');
  await backend.enqueue([newJob('bound')], CALL);
  const { oldestReadyAgeMs } = await backend.counts('bound', CALL);
  expect(oldestReadyAgeMs.kind).toBe('upper-bound');
  expect(oldestReadyAgeMs.value).toBeLessThan(60_000);
  expect(metrics.heard).toEqual([]);
  await backend.close({ graceMs: 3000 });
});

test('with CloudWatch it is the newest point of the metric, no more than the bound, asked for once a minute', async () => {
  const backend = await connected(server, { oldestAge: 'cloudwatch', prefix: 'measured' });
  expect(backend.capabilities.oldestReadyAge).toBe('approximate');
  await backend.enqueue([newJob('mail')], CALL);
  // The queue is not a minute old, the metric says an hour: whatever it says, the job cannot be older than its queue.
  answerWith([[2, 3600]]);
  const capped = await backend.counts('mail', CALL);
  expect(capped.oldestReadyAgeMs.kind).toBe('approximate');
  expect(capped.oldestReadyAgeMs.value).toBeLessThan(60_000);
  const [heard] = metrics.heard;
  expect(heard?.body).toContain(`"Value":"${namesOf('measured', 'mail').ready}"`);
  expect(heard?.body).toContain('ApproximateAgeOfOldestMessage');
  await backend.counts('mail', CALL);
  expect(metrics.heard).toHaveLength(1);
  const real = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => real() + 61_000);
  answerWith([
    [9, 0],
    [3, 0.5],
    [5, 7],
  ]);
  const later = await backend.counts('mail', CALL);
  expect(later.oldestReadyAgeMs).toEqual({ value: 500, kind: 'approximate' });
  vi.restoreAllMocks();
  await backend.close({ graceMs: 3000 });
});

test('where the metric has no point nothing is known; where nothing is ready it is not asked for', async () => {
  const backend = await connected(server, { oldestAge: 'cloudwatch' });
  answerWith([]);
  expect((await backend.counts('quiet', CALL)).oldestReadyAgeMs).toEqual({
    value: null,
    kind: 'approximate',
  });
  expect(metrics.heard).toEqual([]);
  await backend.enqueue([newJob('quiet')], CALL);
  expect((await backend.counts('quiet', CALL)).oldestReadyAgeMs).toEqual({ value: null, kind: 'none' });
  await backend.close({ graceMs: 3000 });
});

test('a missing right is named, and the next look asks again', async () => {
  const backend = await connected(server, { oldestAge: 'cloudwatch' });
  await backend.enqueue([newJob('denied')], CALL);
  metrics.answer = (_, response) =>
    reply(response, 403, { __type: 'com.amazon.coral.service#AccessDeniedException', message: 'no' });
  await expect(backend.counts('denied', CALL)).rejects.toThrow(/Grant cloudwatch:GetMetricStatistics/);
  answerWith([[1, 5]]);
  expect((await backend.counts('denied', CALL)).oldestReadyAgeMs.kind).toBe('approximate');
  await backend.close({ graceMs: 3000 });
});
