import { randomUUID } from 'node:crypto';
import type { Message } from 'amqplib';
import { describe, expect, it } from 'vitest';
import {
  atClaim,
  brokerCounts,
  charged,
  decode,
  type Envelope,
  encode,
  newEnvelope,
  redriven,
  released,
} from '../src/envelope.ts';
import { newJob } from './backends.ts';

const NOW = 1_800_000_000_000;
const ERROR = { code: 'HANDLER_FAILED', name: 'Error', message: 'x', stack: null, attempt: 1 };

function asMessage(
  { options, body }: ReturnType<typeof encode>,
  more: Record<string, unknown> = {},
): Message {
  const { headers, messageId, type } = options;
  return {
    content: body,
    fields: { deliveryTag: 1, redelivered: false, exchange: '', routingKey: 'q' },
    properties: { headers: { ...(headers as object), ...more }, messageId, type },
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

  it('moves what is large in front of the body, so that the headers stay small', () => {
    const headers = { big: 'é'.repeat(60_000) };
    const envelope = newEnvelope(newJob('q', { headers }), NOW);
    const payload = Buffer.from('"payload"');
    const encoded = encode(envelope, payload);
    expect(JSON.stringify(encoded.options.headers).length).toBeLessThan(1000);
    expect(decode(asMessage(encoded))).toEqual({ envelope, payload });
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
    expect(Object.keys(again.options.headers as object)).toEqual(['surety']);
    expect(again.options.messageId).not.toBe(received.properties.messageId);
  });

  it('says why a foreign message is none', () => {
    const foreign = asMessage(encode(newEnvelope(newJob('q'), NOW), Buffer.from('1')));
    for (const headers of [
      undefined,
      {},
      { surety: 1 },
      { surety: '{' },
      { surety: '{"v":2}' },
      { surety: '{"v":1,"id":"x"}' },
    ]) {
      expect(
        decode({ ...foreign, properties: { ...foreign.properties, headers: headers as object } }),
      ).toHaveProperty('broken');
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
