import { AbortReason, defineJob, handle, type JobContext } from '@surety/core';
import { afterEach, expect, test } from 'vitest';
import { lease, scriptedBackend } from '../support/scripted-backend.ts';
import { eventually, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job');
let running: Trial | null = null;

afterEach(async () => {
  await running?.worker.stop({ drain: 0, grace: 0 });
  running = null;
});

function blockLoop(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

async function blocked(after: (context: JobContext) => unknown): Promise<ReturnType<typeof scriptedBackend>> {
  const backend = scriptedBackend();
  running = trial({
    backend,
    lease: 300,
    handlers: [
      handle(job, async (_input, context) => {
        blockLoop(1200);
        return after(context);
      }),
    ],
  });
  backend.give(lease());
  await running.worker.start();
  await eventually(() => (running?.of('lease-lost').length ?? 0) > 0, 'the loss is told');
  return backend;
}

test('B013: a handler that blocked the loop past its lease reads it from its signal at the next look', async () => {
  let reason: unknown;
  const backend = await blocked((context) => {
    reason = context.signal.aborted ? context.signal.reason : null;
  });
  expect(reason).toBeInstanceOf(AbortReason);
  expect((reason as AbortReason).kind).toBe('lease-lost');
  const [lost] = running?.of('lease-lost') ?? [];
  expect(lost?.loopBlockedMs).toBeGreaterThanOrEqual(1000);
  expect(lost?.reason).toContain('the event loop was blocked');
  await eventually(() => (running?.of('attempt').length ?? 0) > 0, 'the end is told');
  expect(running?.of('attempt').map(({ outcome }) => outcome)).toEqual(['lease-lost']);
  expect(backend.settled).toEqual([]);
});

test('B013: a handler that never looks at its signal is not completed either', async () => {
  const backend = await blocked(() => 'done');
  expect(running?.of('lease-lost')[0]?.loopBlockedMs).toBeGreaterThanOrEqual(1000);
  expect(running?.of('lease-lost')).toHaveLength(1);
  expect(backend.settled).toEqual([]);
});

test('B013: one that goes on awaiting after the block is aborted while it waits, and its late result is dropped', async () => {
  let kind: string | null = null;
  const backend = await blocked(
    ({ signal }) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          kind = (signal.reason as AbortReason).kind;
          resolve();
        };
        if (signal.aborted) look();
        else signal.addEventListener('abort', look);
      }),
  );
  await eventually(() => kind !== null, 'the signal aborted');
  expect(kind).toBe('lease-lost');
  await eventually(() => running?.worker.health().running === 0, 'the slot is free');
  expect(backend.settled).toEqual([]);
});
