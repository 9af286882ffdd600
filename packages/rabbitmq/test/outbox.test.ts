import { randomUUID } from 'node:crypto';
import type { ConfirmChannel } from 'amqplib';
import { describe, expect, it } from 'vitest';
import { bytesOf } from '../src/wire/message-frames.ts';
import { Outbox } from '../src/wire/outbox.ts';
import type { Outgoing } from '../src/wire/publisher.ts';

const CHANNEL = 3;

interface Fake {
  readonly channel: ConfirmChannel;
  /** In order: ids of messages that went by `publish`, and chunks. */
  readonly sent: (string | Buffer)[];
  /** In the order in which the broker would number them. */
  readonly confirms: ((error: unknown) => void)[];
  readonly close: () => void;
}

function fake(inside: object = {}): Fake {
  const sent: (string | Buffer)[] = [];
  const confirms: ((error: unknown) => void)[] = [];
  let isOpen = true;
  const channel = {
    ch: CHANNEL,
    connection: {
      frameMax: 131_072,
      channels: Object.assign([], { [CHANNEL]: { buffer: { write: (chunk: Buffer) => sent.push(chunk) } } }),
    },
    pushConfirmCallback: (confirmed: (error: unknown) => void) => confirms.push(confirmed),
    publish(
      _: string,
      __: string,
      ___: Buffer,
      options: { readonly messageId: string },
      confirmed: () => void,
    ) {
      if (!isOpen) throw new Error('Channel closed');
      sent.push(options.messageId);
      confirms.push(confirmed);
    },
    ...inside,
  };
  const close = (): void => {
    isOpen = false;
  };
  return { channel: channel as unknown as ConfirmChannel, sent, confirms, close };
}

function message(overrides: Partial<Outgoing> = {}): Outgoing {
  return {
    exchange: '',
    key: 'surety.mail',
    body: Buffer.from('{}'),
    options: { messageId: randomUUID(), headers: { 'surety-wait': '1 2' } },
    ...overrides,
  };
}

/** The ids of all that was sent, in order; a chunk is looked through for them. */
function idsIn(sent: readonly (string | Buffer)[], messages: readonly Outgoing[]): string[] {
  const ids = messages.map(({ options }) => options.messageId);
  return sent.flatMap((part) => {
    if (typeof part === 'string') return [part];
    const inside = ids.filter((id) => part.includes(id));
    return inside.toSorted((a, b) => part.indexOf(a) - part.indexOf(b));
  });
}

function sendAll(outbox: Outbox, messages: readonly Outgoing[], heard: string[]): void {
  for (const one of messages)
    outbox.add(one, bytesOf(one.body), () => void heard.push(one.options.messageId));
  outbox.flush();
}

describe('an outbox', () => {
  it('sends the first by publish, and the others as one', () => {
    const { channel, sent, confirms } = fake();
    const messages = Array.from({ length: 30 }, () => message());
    const heard: string[] = [];
    sendAll(new Outbox(channel), messages, heard);
    const ids = messages.map(({ options }) => options.messageId);
    expect(sent).toHaveLength(2);
    expect(idsIn(sent, messages)).toEqual(ids);
    for (const confirmed of confirms) confirmed(null);
    expect(heard).toEqual(ids);
  });

  it('keeps their order where some cannot be written here, or do not fit into one chunk', () => {
    const { channel, sent, confirms } = fake();
    const messages = Array.from({ length: 200 }, (_, n) => {
      const bytes = n % 7 === 3 ? 40_000 : n % 11 === 5 ? 200_000 : 900;
      return message({
        body: n % 2 === 0 ? Buffer.alloc(bytes) : '€'.repeat(bytes / 4),
        key: n % 5 === 4 ? 'surety.other' : 'surety.mail',
        ...(n % 3 > 0 && { options: { messageId: randomUUID() } }),
      });
    });
    const heard: string[] = [];
    sendAll(new Outbox(channel), messages, heard);
    const ids = messages.map(({ options }) => options.messageId);
    expect(idsIn(sent, messages)).toEqual(ids);
    for (const confirmed of confirms) confirmed(null);
    expect(heard).toEqual(ids);
  });

  it.each<[string, object]>([
    ['its connection', { connection: {} }],
    ['its number', { ch: undefined }],
    ['its confirms', { pushConfirmCallback: undefined }],
  ])('sends each by publish where amqplib hides %s', (_, inside) => {
    const { channel, sent } = fake(inside);
    const messages = Array.from({ length: 5 }, () => message());
    sendAll(new Outbox(channel), messages, []);
    expect(sent).toEqual(messages.map(({ options }) => options.messageId));
  });

  it('throws for each message of a channel that is closed, and sends none', () => {
    const { channel, sent, confirms, close } = fake();
    close();
    const outbox = new Outbox(channel);
    for (let n = 0; n < 3; n++) expect(() => outbox.add(message(), 2, () => undefined)).toThrow('closed');
    outbox.flush();
    expect([...sent, ...confirms]).toEqual([]);
  });
});
