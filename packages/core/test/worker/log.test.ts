import { defineJob, handle, type LogChoice } from '@surety/core';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lease, scriptedBackend } from '../support/scripted-backend.ts';
import { pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job', { retry: { maxAttempts: 2 } });
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

async function linesOf(log: LogChoice): Promise<Record<string, unknown>[]> {
  const backend = scriptedBackend();
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { base: null, timestamp: false },
    { write: (line) => void lines.push(JSON.parse(line)) },
  );
  running = trial({
    backend,
    log,
    logger,
    concurrency: 1,
    handlers: [
      handle(job, async (input, context) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (input === 'throw') throw new TypeError('x is undefined');
        return input === 'cancel' ? context.cancel('not needed') : undefined;
      }),
    ],
  });
  backend.give(
    lease({ payload: { value: 'return' }, waitedMs: 7 }),
    lease({ payload: { value: 'cancel' } }),
    lease({ payload: { value: 'throw' } }),
    lease({ payload: { value: 'throw' }, attempt: 2 }),
    lease({ expiresInMs: -1 }),
  );
  await running.worker.start();
  await pass(500);
  return lines.filter(({ msg }) => msg === 'attempt');
}

test('one line per attempt, with its fields', async () => {
  const lines = await linesOf('all');
  const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
  const line = { jobId: id, type: 'test.job', queue: 'default', attempt: 1, msg: 'attempt' };
  expect(lines).toHaveLength(5);
  expect(lines).toContainEqual({ ...line, level: 30, durationMs: 20, waitMs: 7, outcome: 'completed' });
  expect(lines).toContainEqual({
    ...line,
    level: 30,
    durationMs: 20,
    waitMs: 0,
    outcome: 'cancelled',
    reason: 'not needed',
  });
  const failed = { errorClass: 'TypeError', code: 'HANDLER_FAILED', error: 'x is undefined' };
  expect(lines).toContainEqual({
    ...line,
    level: 40,
    durationMs: 20,
    waitMs: 0,
    outcome: 'retried',
    ...failed,
  });
  expect(lines).toContainEqual({
    ...line,
    attempt: 2,
    level: 50,
    durationMs: 20,
    waitMs: 0,
    outcome: 'dead',
    ...failed,
  });
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 50, durationMs: null, outcome: 'dead', code: 'EXPIRED' }),
  );
});

test('`failures` leaves out what went well; `none` leaves out all', async () => {
  const lines = await linesOf('failures');
  expect(lines.map(({ outcome }) => String(outcome)).sort((a, b) => a.localeCompare(b))).toEqual([
    'dead',
    'dead',
    'retried',
  ]);
  if (running !== null) await stopNow(running.worker);
  expect(await linesOf('none')).toEqual([]);
});

test('a notice of the adapter is logged and told', async () => {
  const backend = scriptedBackend();
  let notify: (notice: never) => void = () => undefined;
  backend.open = async (options) => {
    notify = options.notify as never;
  };
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) });
  running = trial({ backend, log: 'all', logger, handlers: [handle(job, () => undefined)] });
  await running.worker.start();
  notify({ kind: 'degraded', reason: 'polling', error: null } as never);
  expect(running.of('notice')).toEqual([{ kind: 'degraded', reason: 'polling', error: null }]);
  expect(lines).toMatchObject([{ level: 40, kind: 'degraded', reason: 'polling' }]);
});
