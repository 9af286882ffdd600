import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AttemptEvent, AttemptOutcome } from '../../src/events/worker-events.ts';
import { attemptLog } from '../../src/logging/attempt-log.ts';
import { isPlain, PlainLines } from '../../src/logging/plain-lines.ts';

const OUTCOMES: readonly AttemptOutcome[] = ['completed', 'cancelled', 'released', 'snoozed'];

beforeEach(() => void vi.useFakeTimers({ now: 1_800_000_000_123 }));
afterEach(() => void vi.useRealTimers());

function eventOf(overrides: Partial<AttemptEvent> = {}): AttemptEvent {
  return {
    jobId: randomUUID(),
    type: 'mail.send:v1_x-y',
    queue: 'default_1-a',
    attempt: 1,
    outcome: 'completed',
    durationMs: 12.345678,
    waitMs: 7,
    errorClass: null,
    code: null,
    message: null,
    ...overrides,
  };
}

function byPino(event: AttemptEvent): string {
  const lines: string[] = [];
  const options = { base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime };
  attemptLog('all', pino(options, { write: (line) => void lines.push(line) })).attempt(event);
  return lines.join('');
}

test.each<[string, Partial<AttemptEvent>]>([
  ...OUTCOMES.map((outcome): [string, Partial<AttemptEvent>] => [`is ${outcome}`, { outcome }]),
  ['never started', { outcome: 'released', durationMs: null }],
  ['took no time', { durationMs: 0 }],
  ['is the hundredth', { attempt: 100, waitMs: 86_400_000 }],
  ['says what is no number', { waitMs: Number.NaN, durationMs: Number.POSITIVE_INFINITY }],
])('the line of an attempt that %s is that of pino, character by character', (_, overrides) => {
  const lines = new PlainLines({ pid: process.pid });
  for (let round = 0; round < 3; round += 1) {
    const event = eventOf(overrides);
    if (!isPlain(event)) throw new Error('it is plain');
    expect(lines.lineOf(event)).toBe(byPino(event));
    vi.advanceTimersByTime(round);
  }
});

test.each<[string, Partial<AttemptEvent>]>([
  ['failed', { outcome: 'retried', errorClass: 'Error', code: 'HANDLER_FAILED', message: '"' }],
  ['is dead', { outcome: 'dead', errorClass: 'Error', message: null }],
  ['was cancelled for a reason', { outcome: 'cancelled', message: 'not "needed"' }],
  ['has a type that nobody handles', { outcome: 'released', errorClass: 'SuretyError', message: 'x' }],
  ['lost its lease', { outcome: 'lease-lost' }],
])('an attempt that %s is left to pino', (_, overrides) => {
  expect(isPlain(eventOf(overrides))).toBe(false);
});
