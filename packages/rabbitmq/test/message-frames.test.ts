import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lengthOf, writeMessage } from '../src/wire/message-frames.ts';
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
  readonly publish: (exchange: string, key: string, options: unknown) => unknown;
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

function byAmqplib({ exchange, key, body, options }: Outgoing): Buffer {
  const fields = publish(exchange, key, { mandatory: true, persistent: true, ...options });
  return Buffer.concat([
    encodeMethod(BasicPublish, CHANNEL, fields),
    encodeProperties(BasicProperties, CHANNEL, body.length, fields),
    body.length > 0 ? makeBodyFrame(CHANNEL, body) : Buffer.alloc(0),
  ]);
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
  ])('%s are those of amqplib, byte for byte', (_, overrides) => {
    const outgoing = message(overrides);
    const length = lengthOf(outgoing, WIDE);
    if (length === null) throw new Error('not written');
    const written = Buffer.alloc(length + 20, 0xff);
    expect(writeMessage(written, 9, CHANNEL, outgoing)).toBe(9 + length);
    expect(written.subarray(9, 9 + length).equals(byAmqplib(outgoing))).toBe(true);
    expect(written.subarray(9 + length).every((byte) => byte === 0xff)).toBe(true);
  });

  it.each<[string, Partial<Outgoing>]>([
    ['a body that needs several frames', { body: Buffer.alloc(WIDE) }],
    ['headers that fit into none', { options: { messageId: 'x', headers: { wide: 'x'.repeat(WIDE) } } }],
    ['a header that is no text', { options: { messageId: 'x', headers: { one: 1 } } }],
    ['an id that is too long', { options: { messageId: 'x'.repeat(256) } }],
  ])('are not written for %s', (_, overrides) => {
    expect(lengthOf(message(overrides), WIDE)).toBeNull();
  });
});
