import { defineJob, handle } from '@surety/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lease, leases, scriptedBackend } from '../support/scripted-backend.ts';
import { pass, stopNow, stopTime, type Trial, trial } from '../support/worker-trial.ts';

const job = defineJob('test.job');
let running: Trial | null = null;

beforeEach(stopTime);
afterEach(async () => {
  if (running !== null) await stopNow(running.worker, { drain: 0, grace: 0 });
  running = null;
  vi.useRealTimers();
});

const trap = (): never => {
  throw new Error('do not look');
};
const unreadable = new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap });
const getters = Object.defineProperties(new Error('x'), {
  message: { get: trap },
  stack: { get: trap },
  name: { get: trap },
});

test.each([
  ['undefined', undefined, { name: 'undefined', message: 'threw undefined' }],
  ['null', null, { name: 'null', message: 'threw null' }],
  ['a string', 'broken', { name: 'string', message: 'broken' }],
  ['a number', 0, { name: 'number', message: 'threw 0' }],
  ['a symbol', Symbol('s'), { name: 'symbol', message: 'threw Symbol(s)' }],
  ['an object without prototype', Object.create(null), { name: 'Unreadable' }],
  ['an error whose getters throw', getters, { name: 'Unreadable' }],
  ['a proxy that throws at every look', unreadable, { name: 'Unreadable' }],
])('a handler that throws %s fails its attempt and nothing else', async (_name, thrown, error) => {
  const backend = scriptedBackend();
  let starts = 0;
  running = trial({
    backend,
    concurrency: 1,
    handlers: [
      handle(job, () => {
        if (starts++ === 0) throw thrown;
      }),
    ],
  });
  backend.give(...leases(2));
  await running.worker.start();
  await pass(100);
  expect(backend.settled).toMatchObject([
    { kind: 'retry', error: { code: 'HANDLER_FAILED', ...error } },
    { kind: 'complete' },
  ]);
  expect(running.worker.health()).toMatchObject({ ok: true, running: 0 });
});

test('a handler may return what cannot be looked at: it has succeeded', async () => {
  const backend = scriptedBackend();
  running = trial({ backend, handlers: [handle(job, () => [unreadable])] });
  backend.give(lease());
  await running.worker.start();
  await pass(100);
  expect(backend.settled).toMatchObject([{ kind: 'complete' }]);
});

test.each([
  [
    'then',
    'answers twice and at once',
    (answer: () => void): void => [answer, answer].forEach((each) => each()),
  ],
  ['then', 'never answers', (): void => undefined],
  ['then', 'throws', trap],
])('a promise whose own %s %s ends its attempt once, as awaiting it would', async (own, _, does) => {
  const backend = scriptedBackend();
  const odd = (): Promise<void> => Object.assign(Promise.resolve(), { [own]: does });
  running = trial({ backend, concurrency: 1, handlers: [handle(job, odd)] });
  backend.give(...leases(2));
  await running.worker.start();
  await pass(100);
  expect(backend.settled).toMatchObject([{ kind: 'complete' }, { kind: 'complete' }]);
});

test.each([
  ['short characters', 'x'],
  ['three-byte characters', '€'],
  ['characters that JSON escapes', '\u0001'],
  ['NUL', '\u0000'],
  ['lone surrogates', '\ud800'],
])('an error of a megabyte of %s is stored in 8 KiB', async (_name, character) => {
  const backend = scriptedBackend();
  const error = new Error(character.repeat(1024 * 1024));
  running = trial({
    backend,
    handlers: [
      handle(job, () => {
        throw error;
      }),
    ],
  });
  backend.give(lease());
  await running.worker.start();
  await pass(100);
  const [settlement] = backend.settled;
  const stored = settlement?.kind === 'retry' ? settlement.error : null;
  expect(Buffer.byteLength(JSON.stringify(stored))).toBeLessThanOrEqual(8192);
  expect(stored?.message.isWellFormed()).toBe(true);
  expect(stored?.message).not.toContain('\u0000');
});

test('listeners and onDead that throw or reject, with anything, harm nobody', async () => {
  const backend = scriptedBackend();
  let deaths = 0;
  const faults = [new Error('a'), unreadable, Object.create(null), undefined];
  running = trial({
    backend,
    concurrency: 2,
    handlers: [handle(job, (_input, context) => context.bury('no'))],
    onDead: () => {
      const fault = faults[deaths % faults.length];
      if (deaths++ % 2 === 0) throw fault;
      return Promise.reject(fault);
    },
  });
  for (const name of ['started', 'attempt', 'dead', 'state'] as const) {
    for (const fault of faults) {
      running.worker.on(name, () => {
        throw fault;
      });
      running.worker.on(name, () => Promise.reject(fault));
    }
  }
  backend.give(...leases(8));
  await running.worker.start();
  await pass(200);
  expect(deaths).toBe(8);
  expect(running.of('dead')).toHaveLength(8);
  expect(backend.settled.map(({ kind }) => kind)).toEqual(Array.from({ length: 8 }, () => 'bury'));
});

test('a logger that throws costs no job', async () => {
  const backend = scriptedBackend();
  const logger = new Proxy({}, { get: trap });
  running = trial({ backend, logger: logger as never, log: 'all', handlers: [handle(job, () => undefined)] });
  backend.give(...leases(3));
  await running.worker.start();
  await pass(100);
  expect(backend.settled).toHaveLength(3);
});

test('a schema that breaks is a fault of the attempt; only what it says of the payload is final', async () => {
  const backend = scriptedBackend();
  const schema = (validate: () => never) => ({
    '~standard': { version: 1 as const, vendor: 'test', validate },
  });
  const breaking = defineJob('test.breaking', {
    input: schema(() => {
      throw new TypeError('the schema is broken');
    }),
  });
  running = trial({ backend, handlers: [handle(breaking, () => undefined)] });
  backend.give(lease({ type: 'test.breaking' }));
  await running.worker.start();
  await pass(100);
  expect(backend.settled).toMatchObject([{ kind: 'retry', error: { name: 'TypeError' } }]);
});
