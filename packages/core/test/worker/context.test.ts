import {
  createClient,
  createWorker,
  defineJob,
  type FencedContext,
  handle,
  handleFenced,
  type JobContext,
} from '@surety/core';
import { memory } from '@surety/memory';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lease, scriptedBackend } from '../support/scripted-backend.ts';
import { pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job', { retry: { maxAttempts: 4 } });
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

function logger(): { lines: Record<string, unknown>[]; logger: pino.Logger } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line));
  return { lines, logger: pino({ base: null }, { write }) };
}

test('the context tells what the lease says, and its log is bound to job and attempt', async () => {
  const backend = scriptedBackend();
  const log = logger();
  const seen: unknown[] = [];
  running = trial({
    backend,
    logger: log.logger,
    handlers: [
      handle(job, (input, context) => {
        const { id, type, queue, attempt, maxAttempts, lastAttempt, deliveries, redrives, idempotencyKey } =
          context;
        const { headers, signal } = context;
        const { aborted } = signal;
        seen.push({ input, id, type, queue, attempt, maxAttempts, lastAttempt, deliveries, redrives });
        seen.push({ idempotencyKey, headers, aborted, fence: 'fence' in context ? 'there' : 'none' });
        context.log.info('from the handler');
      }),
    ],
  });
  const given = lease({
    attempt: 4,
    deliveries: 9,
    redrives: 2,
    idempotencyKey: 'order-7',
    headers: { trace: 'abc' },
    payload: { value: { a: 1 } },
  });
  backend.give(given);
  await running.worker.start();
  await pass(50);
  expect(seen[0]).toEqual({
    input: { a: 1 },
    id: given.id,
    type: 'test.job',
    queue: 'default',
    attempt: 4,
    maxAttempts: 4,
    lastAttempt: true,
    deliveries: 9,
    redrives: 2,
  });
  expect(seen[1]).toMatchObject({ idempotencyKey: 'order-7', headers: { trace: 'abc' }, aborted: false });
  expect(log.lines[0]).toMatchObject({
    msg: 'from the handler',
    jobId: given.id,
    type: 'test.job',
    attempt: 4,
  });
});

test('ctx.enqueue stores a child on the same backend, also when it is taken out of the context', async () => {
  const backend = memory();
  const client = createClient({ backend });
  const child = defineJob<{ n: number }>('child');
  const got: unknown[] = [];
  running = trial({
    backend,
    handlers: [
      handle(job, async (_input, context) => {
        await context.enqueue(child, { n: 1 });
        // oxlint-disable-next-line typescript/unbound-method -- that it needs no `this` is the promise under test
        const { enqueue } = context;
        await enqueue(child, { n: 2 }, { delay: 10 });
      }),
      handle(child, (input) => {
        got.push(input);
      }),
    ],
  });
  await running.worker.start();
  await client.enqueue(job, {});
  await pass(500);
  expect(got).toEqual([{ n: 1 }, { n: 2 }]);
  await client.close();
});

test('G2.7: handleFenced has the fence, which grows with every claim', async () => {
  const backend = memory();
  const client = createClient({ backend });
  const fences: number[] = [];
  const failing = defineJob('failing', { retry: { maxAttempts: 3, base: 1 } });
  running = trial({
    backend,
    handlers: [
      handleFenced(failing, (_input, { fence }) => {
        fences.push(fence);
        throw new Error('again');
      }),
    ],
  });
  await running.worker.start();
  await client.enqueue(failing, {});
  await pass(1000);
  expect(fences).toHaveLength(3);
  expect(fences).toEqual([...fences].sort((a, b) => a - b));
  expect(new Set(fences).size).toBe(3);
  await client.close();
});

test('what types cannot refuse is refused when the worker is made', () => {
  const weak = memory({ profile: 'weak' });
  expect(() =>
    createWorker({ backend: weak, handlers: [handleFenced(job, () => undefined) as never] }),
  ).toThrow(expect.objectContaining({ code: 'CAPABILITY_MISSING' }));
  const long = defineJob('long', { timeout: '2d' });
  expect(() => createWorker({ backend: weak, handlers: [handle(long, () => undefined)] })).toThrow(
    expect.objectContaining({ code: 'LIMIT_EXCEEDED' }),
  );
  const twice = [handle(job, () => undefined), handle(job, () => undefined)];
  expect(() => createWorker({ backend: weak, handlers: twice })).toThrow(
    expect.objectContaining({ code: 'JOB_DEFINED_TWICE' }),
  );
  expect(() => createWorker({ backend: weak, handlers: [] })).toThrow(/no queue/);
  expect(() => createWorker({ backend: weak, handlers: twice.slice(1), concurency: 3 } as never)).toThrow(
    /concurency/,
  );
  expect(() => createWorker({ backend: weak, handlers: twice.slice(1), lease: 5 })).toThrow(/lease is 5 ms/);
});

// The compiler reads this; it is never called. Each line that must not compile says so.
export function typesThatMustNotCompile(): void {
  const strong = memory();
  const weak = memory({ profile: 'weak' });
  const typed = defineJob<{ orderId: number }>('typed');
  void createClient({ backend: strong }).enqueue(typed, { orderId: 1 }, { priority: 0 });
  // @ts-expect-error the weak backend has no priority
  void createClient({ backend: weak }).enqueue(typed, { orderId: 1 }, { priority: 0 });
  // @ts-expect-error nor de-duplication
  void createClient({ backend: weak }).enqueue(typed, { orderId: 1 }, { dedupeKey: 'x' });
  // @ts-expect-error the input is of another type
  void createClient({ backend: strong }).enqueue(typed, { orderId: 'one' });
  // @ts-expect-error no such option
  void createClient({ backend: strong }).enqueue(typed, { orderId: 1 }, { delai: 1 });
  handle(typed, (input, context: JobContext) => {
    input.orderId.toFixed();
    // @ts-expect-error the input has no such field
    void input.customer;
    // @ts-expect-error a plain context has no fence
    void context.fence;
    // @ts-expect-error the child's input is of another type
    void context.enqueue(typed, { orderId: 'one' });
    // @ts-expect-error not a duration
    context.snooze('soon');
  });
  const fenced = handleFenced(typed, (_input, context: FencedContext) => context.fence.toFixed());
  createWorker({ backend: strong, handlers: [fenced] });
  // @ts-expect-error the weak backend has no fence
  createWorker({ backend: weak, handlers: [fenced] });
  // @ts-expect-error a handler is made by handle()
  createWorker({ backend: strong, handlers: [() => undefined] });
  // @ts-expect-error no such event
  createWorker({ backend: strong, handlers: [] }).on('done', () => undefined);
}
