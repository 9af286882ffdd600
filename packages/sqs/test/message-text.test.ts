import { describe, expect, test } from 'vitest';
import { charged, newEnvelope } from '../src/envelope.ts';
import { decode, encode } from '../src/message-text.ts';
import { newJob } from './emulator.ts';

const SENT_AT = 1_790_000_000_000;
const WRITING = { now: SENT_AT, delayMs: 0, maxBytes: 262_144 };
/** What the service lets pass, less the pairs of surrogates that some emulators refuse. */
const LEGAL = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd]*$/;

function roundTrip(payload: string, overrides = {}): ReturnType<typeof decode> {
  const text = encode(newEnvelope(newJob('mail', overrides)), payload, WRITING);
  expect(text).toMatch(LEGAL);
  return decode(text ?? '', SENT_AT);
}

describe('a message', () => {
  test.each([
    '{}',
    '"😀 \uffff \ud800 \u007f \u0000 \u2028"',
    '{"a": 1.0}\n\n',
    '"\\u007f0041"',
    '\u007f0041',
  ])('carries the payload %j as it was, in characters that every rule allows (B074)', (payload) => {
    expect(roundTrip(payload)).toMatchObject({ payload });
  });

  test('carries headers, keys and limits, whatever their characters', () => {
    const headers = { 'x-😀': '\u0000\uffff"\n' };
    const decoded = roundTrip('{}', { headers, idempotencyKey: 'ä😀', maxAttempts: 3, expiresInMs: 5000 });
    expect(decoded).toMatchObject({
      envelope: { headers, idempotencyKey: 'ä😀', maxAttempts: 3, expiresInMs: 5000, enqueuedAt: SENT_AT },
    });
  });

  test('counts its times from its sending, by the clock of the service alone', () => {
    const envelope = { ...newEnvelope(newJob('mail')), unknownTypeSince: SENT_AT - 400 };
    const text = encode(envelope, '{}', { ...WRITING, delayMs: 90_000 });
    expect(decode(text ?? '', SENT_AT + 5)).toMatchObject({
      envelope: { dueAt: SENT_AT + 90_005, unknownTypeSince: SENT_AT - 395 },
    });
  });

  test('that is too large loses the stacks of its errors before it fails to move', () => {
    const error = { code: 'X', name: 'Error', message: 'm', stack: 's'.repeat(8000), attempt: 1 };
    const full = [1, 2, 3, 4, 5].reduce(
      (envelope) => charged(envelope, error, SENT_AT),
      newEnvelope(newJob('mail')),
    );
    const payload = JSON.stringify('x'.repeat(230_000));
    const decoded = decode(encode(full, payload, WRITING) ?? '', SENT_AT);
    expect(decoded).toMatchObject({ payload, envelope: { attempt: 5 } });
    expect('envelope' in decoded && decoded.envelope.history.at(-1)?.error).toMatchObject({
      message: 'm',
      stack: null,
    });
    expect(encode(full, JSON.stringify('x'.repeat(262_144)), WRITING)).toBeNull();
  });

  test.each(['', 'no envelope', '{"v":9}\n{}', '{"v":1,"id":"x"}\n{}', '{cut\n{}'])(
    'of another kind is told from ours: %j',
    (body) => {
      expect(decode(body, SENT_AT)).toHaveProperty('broken');
    },
  );
});
