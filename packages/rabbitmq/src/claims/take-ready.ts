import type { Channel, Message } from 'amqplib';
import { type Consumer, newConsumer } from './deliveries.ts';

/** Takes up to so many that are ready and does not wait for any. `received` hears of each: without a consumer it was got by asking; null: the broker ended the consumer. */
export async function takeReady(
  channel: Channel,
  queue: string,
  max: number,
  received: (consumer: Consumer | null, message: Message | null) => void,
): Promise<Message[]> {
  const taken: Message[] = [];
  const take = (consumer: Consumer | null, message: Message | null): void => {
    received(consumer, message);
    if (message !== null) taken.push(message);
  };
  if (max === 1) {
    const message = await channel.get(queue);
    if (message !== false) take(null, message);
    return taken;
  }
  const consumer = newConsumer(max);
  // A consumer that is cancelled as soon as it was made: what is ready comes before the broker confirms the end. Asked for one after the other without a
  // pause, so that no other claim's prefetch comes in between.
  await Promise.all([
    channel.prefetch(max, false),
    channel.consume(queue, (message) => take(consumer, message), { consumerTag: consumer.tag }),
    channel.cancel(consumer.tag),
  ]);
  return taken;
}
