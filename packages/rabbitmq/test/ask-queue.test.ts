import { type RabbitmqServer, startRabbitmq } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askQueue } from '../src/wire/ask-queue.ts';
import { withChannel } from './raw-channel.ts';

let server: RabbitmqServer;
beforeAll(async () => {
  server = await startRabbitmq();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('a question for a queue', () => {
  it('has the answer that amqplib would give', async () => {
    await withChannel(server.url, async (channel) => {
      await channel.assertQueue('asked', { durable: true, arguments: { 'x-queue-type': 'quorum' } });
      channel.sendToQueue('asked', Buffer.from('1'));
      await channel.waitForConfirms();
      const answer = { queue: 'asked', messageCount: 1, consumerCount: 0 };
      expect(await channel.checkQueue('asked')).toEqual(answer);
      expect(await askQueue(channel, 'asked')).toEqual(answer);
      const hidden = { checkQueue: (name: string) => channel.checkQueue(name) } as typeof channel;
      expect(await askQueue(hidden, 'asked')).toEqual(answer);
    });
  });

  it('about one that is not there, or over a channel that is closed, rejects', async () => {
    await withChannel(server.url, async (channel) => {
      await expect(askQueue(channel, 'nowhere')).rejects.toThrow(/404|NOT-FOUND|NOT_FOUND/);
      await expect(askQueue(channel, 'nowhere')).rejects.toThrow(/closed/);
    }).catch(() => undefined);
    expect.assertions(2);
  });
});
