import { randomUUID } from 'node:crypto';
import type { Message } from 'amqplib';
import { describe, expect, it } from 'vitest';
import {
  atClaim,
  brokerCounts,
  charged,
  type Envelope,
  newEnvelope,
  redriven,
  released,
} from '../src/envelope.ts';
import { decode, encode, encodeNew, open, payloadIn } from '../src/message-body.ts';
import { newJob } from './backends.ts';

const NOW = 1_800_000_000_000;
const ERROR = { code: 'HANDLER_FAILED', name: 'Error', message: 'x', stack: null, attempt: 1 };

function asMessage(
  { options, body }: ReturnType<typeof encode>,
  more: Record<string, unknown> = {},
): Message {
  return {
    content: Buffer.from(body),
    fields: { deliveryTag: 1, redelivered: false, exchange: '', routingKey: 'q' },
    properties: { headers: { ...options.headers, ...more }, messageId: options.messageId },
  } as unknown as Message;
}

function roundTrip(envelope: Envelope, payload: Buffer): ReturnType<typeof decode> {
  return decode(asMessage(encode(envelope, payload)));
}

describe('an envelope', () => {
  it('comes back as it was, whatever it holds', () => {
    const job = newJob('q', {
      headers: { a: 'ü', '': '\u0000' },
      idempotencyKey: 'key',
      maxAttempts: 3,
      delayMs: 50,
      expiresInMs: 9,
    });
    const full: Envelope = {
      ...newEnvelope(job, NOW),
      attempt: 2,
      deliveries: 9,
      lostClaims: 1,
      lossBackedOff: true,
      interruptions: 4,
      redrives: 5,
      unknownTypeSince: NOW - 1,
      history: [{ at: new Date(NOW).toISOString(), error: ERROR }],
      deadAt: NOW + 1,
    };
    const payload = Buffer.from('{"z":"é"}');
    for (const envelope of [newEnvelope(newJob('q'), NOW), newEnvelope(job, NOW), full]) {
      expect(roundTrip(envelope, payload)).toEqual({ envelope, payload });
    }
  });

  it('is no header, so that the broker looks at none and what is large fits', () => {
    const headers = { big: 'é'.repeat(60_000) };
    const envelope = newEnvelope(newJob('q', { headers }), NOW);
    const payload = Buffer.from('"payload"');
    const encoded = encode(envelope, payload);
    expect(Object.keys(encoded.options)).toEqual(['messageId']);
    expect(decode(asMessage(encoded))).toEqual({ envelope, payload });
  });

  it('ends with the first line feed: a payload may have its own', () => {
    const payload = Buffer.from('{\n"a":[1,\n2]}\n');
    const envelope = newEnvelope(newJob('q', { headers: { a: 'two,\nlines' } }), NOW);
    expect(roundTrip(envelope, payload)).toEqual({ envelope, payload });
    const opened = open(asMessage(encode(envelope, payload)));
    expect(opened).toEqual({ envelope, payload: { value: { a: [1, 2] } } });
  });

  it('is the same, and so is the payload, whether that is given as text or as bytes', () => {
    const envelope = newEnvelope(newJob('q'), NOW);
    for (const text of ['null', '"ä€😀"', '[[1],[2]]', '{"__proto__":1}']) {
      const bytes = encode(envelope, Buffer.from(text)).body;
      expect(Buffer.from(encode(envelope, text).body)).toEqual(bytes);
      const opened = open(asMessage(encode(envelope, text)));
      expect(opened).toEqual({ envelope, payload: { value: JSON.parse(text) as unknown } });
    }
  });

  it('of a new job is written the same without being made', () => {
    for (const more of [
      {},
      { delayMs: 5 },
      { expiresInMs: 9 },
      { maxAttempts: 2 },
      { idempotencyKey: 'key' },
      { headers: { a: 'b' } },
      { payload: '"ä€😀"' },
    ]) {
      const job = newJob('q', more);
      expect(encodeNew(job, NOW).body).toBe(encode(newEnvelope(job, NOW), job.payload).body);
    }
  });

  it('is read whatever the payload is, which may be unreadable, or look like more than one', () => {
    const envelope = newEnvelope(newJob('q', { delayMs: 5 }), NOW);
    for (const text of ['', '{"cut off', '1,2', '1],[2', ']', '\uFFFD', 'undefined']) {
      const message = asMessage(encode(envelope, text));
      const unreadable = expect.any(String) as string;
      expect(open(message)).toEqual({ envelope, payload: { unreadable } });
      expect(decode(message)).toEqual({ envelope, payload: Buffer.from(text) });
    }
  });

  it('is read from the same array in other words too, and so is what a move takes', () => {
    const envelope = newEnvelope(newJob('q'), NOW);
    const ours = encode(envelope, '{"a":[1,{"b":2}]}');
    const all = JSON.parse(ours.body.toString()) as unknown;
    for (const text of [JSON.stringify(all), JSON.stringify(all, null, 2), ours.body.toString()]) {
      const message = asMessage({ ...ours, body: Buffer.from(text) });
      expect(open(message)).toEqual({ envelope, payload: { value: { a: [1, { b: 2 }] } } });
      expect(payloadIn(message).toString()).toBe('{"a":[1,{"b":2}]}');
    }
  });

  it('never sends back what the broker added: copied counts and death records lose jobs', () => {
    const received = asMessage(encode(newEnvelope(newJob('q'), NOW), Buffer.from('1')), {
      'x-death': [{ queue: 'a' }],
      'x-delivery-count': 7,
      'x-acquired-count': 9,
    });
    const decoded = decode(received);
    if ('broken' in decoded) throw new Error(decoded.broken);
    const again = encode(charged(decoded.envelope, ERROR, NOW, NOW), decoded.payload);
    expect(again.options.headers).toBeUndefined();
    expect(again.body.includes('x-')).toBe(false);
    expect(again.options.messageId).not.toBe(received.properties.messageId);
  });

  it('says why a foreign message is none', () => {
    const id = randomUUID();
    const body = (...head: unknown[]): string => `${JSON.stringify(head).slice(0, -1)},\n1]`;
    const message = (text: string): Message =>
      asMessage({ options: { messageId: 'x' }, body: Buffer.from(text) });
    expect(open(message(body(1, id, 'some.job', NOW, 0)))).toHaveProperty('envelope');
    const foreign = [
      ['', 'no envelope'],
      ['hello', 'no envelope'],
      ['[1,2,3,4,5,6]', 'version|no id|no envelope'],
      [',\n1]', 'JSON'],
      ['{"v":1,\n1]', 'JSON'],
      ['null,\n1]', 'JSON'],
      [body(2, id, 'some.job', NOW, 0), 'version 2'],
      [body(1, id, 'some.job', NOW), 'no envelope'],
      [body(1, 'x', 'some.job', NOW, 0), 'no id'],
      [body(1, null, 'some.job', NOW, 0), 'no id'],
      [body(1, id, null, NOW, 0), 'no type'],
      [body(1, id, 1, NOW, 0), 'no type'],
      [body(1, id, 'some.job', 'now', 0), 'when'],
    ] as const;
    // As if nothing more were said.
    for (const more of [null, 'more', 1, [1]])
      expect(open(message(body(1, id, 'some.job', NOW, more)))).toHaveProperty('envelope.attempt', 0);
    for (const [text, why] of foreign) {
      const broken = expect.stringMatching(why) as string;
      expect(open(message(text))).toEqual({ broken });
      expect(decode(message(text))).toEqual({ broken });
    }
  });
});

describe('counts of the broker', () => {
  const base = newEnvelope(newJob('q'), NOW);
  const read = (more: Record<string, unknown>): ReturnType<typeof brokerCounts> =>
    brokerCounts(asMessage(encode(base, Buffer.from('1')), more));

  it('are read on every version: absent, a count, a count and what was only taken', () => {
    expect(read({})).toEqual({ lost: 0, taken: 0 });
    expect(read({ 'x-delivery-count': 0 })).toEqual({ lost: 0, taken: 0 });
    expect(read({ 'x-delivery-count': 3 })).toEqual({ lost: 3, taken: 3 });
    expect(read({ 'x-delivery-count': 1, 'x-acquired-count': 5 })).toEqual({ lost: 1, taken: 5 });
    expect(read({ 'x-delivery-count': 'many', 'x-acquired-count': -1 })).toEqual({ lost: 0, taken: 0 });
  });

  it('charge losses, and end a back-off that was lost again', () => {
    const backed = { ...base, attempt: 2, lostClaims: 2, lossBackedOff: true };
    expect(atClaim(backed, { lost: 0, taken: 0 })).toBe(backed);
    expect(atClaim(backed, { lost: 1, taken: 4 })).toMatchObject({
      attempt: 3,
      lostClaims: 3,
      deliveries: 4,
      lossBackedOff: false,
    });
  });
});

describe('what an end changes', () => {
  const lost: Envelope = {
    ...newEnvelope(newJob('q'), NOW),
    attempt: 1,
    lostClaims: 1,
    unknownTypeSince: NOW - 5,
  };

  it('keeps the first and the newest errors', () => {
    let envelope = newEnvelope(newJob('q'), NOW);
    for (let n = 1; n <= 12; n++) envelope = charged(envelope, { ...ERROR, message: `e${n}` }, NOW, NOW + n);
    expect(envelope.history.map(({ error }) => error.message)).toEqual(['e1', 'e9', 'e10', 'e11', 'e12']);
    expect(envelope).toMatchObject({ attempt: 12, deliveries: 12, lostClaims: 0 });
  });

  it('refunds a release and keeps the mark of an unknown type where it must', () => {
    expect(released(lost, 'stop', NOW, NOW)).toMatchObject({
      attempt: 1,
      interruptions: 1,
      lostClaims: 1,
      unknownTypeSince: null,
    });
    expect(released(lost, 'unstarted', NOW, NOW)).toMatchObject({
      interruptions: 0,
      unknownTypeSince: NOW - 5,
    });
    expect(released(lost, 'unknown-type', NOW, NOW)).toMatchObject({ unknownTypeSince: NOW - 5 });
    expect(released({ ...lost, unknownTypeSince: null }, 'unstarted', NOW, NOW).unknownTypeSince).toBeNull();
    expect(released(lost, 'loss-backoff', NOW, NOW)).toMatchObject({ lossBackedOff: true });
  });

  it('starts anew with a redrive', () => {
    const id = randomUUID();
    const dead = { ...charged(lost, ERROR, NOW, NOW), id, deadAt: NOW, interruptions: 3 };
    expect(redriven(dead, NOW + 1)).toMatchObject({
      id,
      attempt: 0,
      interruptions: 0,
      redrives: 1,
      deadAt: null,
      dueAt: NOW + 1,
      history: dead.history,
    });
  });
});
