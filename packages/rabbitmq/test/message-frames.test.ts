import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bytesOf, lengthOf, PlainFrames, writeMessage } from '../src/wire/message-frames.ts';
import type { Outgoing } from '../src/wire/publisher.ts';

const require = createRequire(import.meta.url);
/** By their paths, since amqplib does not export them. */
const inside = (file: string): string => join(dirname(require.resolve('amqplib')), 'lib', file);

/** The encoders of amqplib, by its own arguments. */
const { encodeMethod, encodeProperties, BasicPublish, BasicProperties } = require(inside('defs.js')) as {
  readonly encodeMethod: (id: number, channel: number, fields: unknown) => Buffer;
  readonly encodeProperties: (id: number, channel: number, size: number, fields: unknown) => Buffer;
  readonly BasicPublish: number;
  readonly BasicProperties: number;
};
const { makeBodyFrame } = require(inside('frame.js')) as {
  readonly makeBodyFrame: (channel: number, body: Buffer) => Buffer;
};
const { publish } = require(inside('api_args.js')) as {
  readonly publish: (exchange: string, key: string, options: unknown) => object;
};

const WIDE = 131_072;
const CHANNEL = 517;

function message(overrides: Partial<Outgoing> = {}): Outgoing {
  return {
    exchange: '',
    key: 'surety.mail',
    body: Buffer.from('{"to":"Zoë"}'),
    options: { messageId: randomUUID() },
    ...overrides,
  };
}

function byAmqplib({ exchange, key, body, options }: Outgoing, hasTable = true): Buffer {
  const fields = publish(exchange, key, { mandatory: true, persistent: true, ...options });
  // Of its own accord it sends an empty table.
  if (!hasTable) Object.assign(fields, { headers: undefined });
  const content = Buffer.from(body);
  return Buffer.concat([
    encodeMethod(BasicPublish, CHANNEL, fields),
    encodeProperties(BasicProperties, CHANNEL, content.length, fields),
    content.length > 0 ? makeBodyFrame(CHANNEL, content) : Buffer.alloc(0),
  ]);
}

function plainFor({ exchange, key, options }: Outgoing): PlainFrames {
  return new PlainFrames(CHANNEL, { exchange, key, isMandatory: options.mandatory !== false });
}

describe('the frames of a message', () => {
  it.each<[string, Partial<Outgoing>]>([
    ['with no headers', {}],
    ['that waits', { options: { ...message().options, headers: { 'surety-wait': '1 2' } } }],
    ['with two headers', { options: { ...message().options, headers: { a: 'ä€😀', 'surety-wait': '1 2' } } }],
    ['to an exchange', { exchange: 'surety.control', key: '' }],
    ['that need not arrive', { options: { messageId: randomUUID(), mandatory: false } }],
    ['with names beyond ASCII', { key: 'süß.mail' }],
    ['with no body', { body: Buffer.alloc(0) }],
    ['that is long', { body: Buffer.alloc(100_000, 7) }],
    ['of text', { body: '{"to":"zoe"}' }],
    ['of text beyond ASCII', { body: '{"to":"Zoë ä€😀"}' }],
  ])('%s are those of amqplib, byte for byte', (_, overrides) => {
    const outgoing = message(overrides);
    const bodyBytes = bytesOf(outgoing.body);
    const length = lengthOf(outgoing, bodyBytes, WIDE);
    if (length === null) throw new Error('not written');
    const written = Buffer.alloc(length + 20, 0xff);
    expect(writeMessage(written, 9, CHANNEL, outgoing, bodyBytes)).toBe(9 + length);
    expect(written.subarray(9, 9 + length).equals(byAmqplib(outgoing))).toBe(true);
    expect(written.subarray(9 + length).every((byte) => byte === 0xff)).toBe(true);
  });

  it.each<[string, Partial<Outgoing>]>([
    ['of bytes', {}],
    ['to an exchange', { exchange: 'surety.control', key: '' }],
    ['that need not arrive', { options: { messageId: 'x', mandatory: false } }],
    ['with names beyond ASCII', { key: 'süß.mail' }],
    ['with no body', { body: '' }],
    ['of text', { body: '{"to":"zoe"}' }],
    ['of text beyond ASCII', { body: '{"to":"Zoë ä€😀"}' }],
    ['with the longest id', { options: { messageId: 'x'.repeat(255) } }],
  ])('%s, copied from the one before, say the same as those of amqplib', (_, overrides) => {
    const outgoing = message(overrides);
    const plain = plainFor(outgoing);
    const { messageId } = outgoing.options;
    const bodyBytes = bytesOf(outgoing.body);
    const length = plain.lengthOf(messageId, bodyBytes, WIDE) ?? Number.NaN;
    const written = Buffer.alloc(length + 20, 0xff);
    expect(plain.write(written, 9, messageId, outgoing.body, bodyBytes)).toBe(9 + length);
    expect(written.subarray(9, 9 + length)).toEqual(byAmqplib(outgoing, false));
    expect(written.subarray(9 + length).every((byte) => byte === 0xff)).toBe(true);
  });

  it('are copied for one place only', () => {
    const outgoing = message();
    const plain = plainFor(outgoing);
    expect(plain.isFor(outgoing)).toBe(true);
    const options = { ...outgoing.options, mandatory: false };
    for (const other of [{ key: 'surety.other' }, { exchange: 'surety.control' }, { options }])
      expect(plain.isFor({ ...outgoing, ...other })).toBe(false);
  });

  it.each<[string, Partial<Outgoing>]>([
    ['a body that needs several frames', { body: Buffer.alloc(WIDE) }],
    ['headers that fit into none', { options: { messageId: 'x', headers: { wide: 'x'.repeat(WIDE) } } }],
    ['a header that is no text', { options: { messageId: 'x', headers: { one: 1 } } }],
    ['an id that is too long', { options: { messageId: 'x'.repeat(256) } }],
  ])('are not written for %s', (_, overrides) => {
    const outgoing = message(overrides);
    expect(lengthOf(outgoing, bytesOf(outgoing.body), WIDE)).toBeNull();
  });
});
