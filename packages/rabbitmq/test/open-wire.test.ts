import type { Socket } from 'node:net';
import { type RabbitmqServer, startRabbitmq } from '@surety/testbed';
import type { Channel } from 'amqplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveOptions } from '../src/options.ts';
import { openWire, type Wire } from '../src/wire/open-wire.ts';

let server: RabbitmqServer;
let wire: Wire;
let channel: Channel;
beforeAll(async () => {
  server = await startRabbitmq();
  wire = await openWire(server.url, resolveOptions({ url: server.url }), 'test');
  channel = await wire.channel();
});
afterAll(async () => {
  await wire.close(performance.now() + 5000);
  await server[Symbol.asyncDispose]();
});

/** All that was handed to the socket. */
function bytesWritten(): number {
  return (channel as unknown as { connection: { stream: Socket } }).connection.stream.bytesWritten;
}

/** One frame, which has an answer. */
function send(over: Channel): Promise<unknown> {
  return wire.together(over, () => channel.prefetch(7));
}

describe('what is written together', () => {
  it('leaves before the next turn of the event loop, and is answered', async () => {
    const before = bytesWritten();
    const answered = send(channel);
    expect(bytesWritten()).toBeGreaterThan(before);
    await answered;
    const after = bytesWritten();
    await new Promise((resolve) => setImmediate(resolve));
    // amqplib, whose turn it is now, has nothing left to write.
    expect(bytesWritten()).toBe(after);
  });

  it('leaves a little later over a channel that is otherwise inside', async () => {
    const before = bytesWritten();
    const answered = send({ ch: 1, connection: {} } as never);
    expect(bytesWritten()).toBe(before);
    await answered;
    expect(bytesWritten()).toBeGreaterThan(before);
  });
});
