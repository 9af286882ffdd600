import { type ChannelModel, type ConfirmChannel, connect, type Message } from 'amqplib';
import { observeRabbitmqQueues } from '../observers/rabbitmq-queues.ts';
import { placeOf, plainQueue } from '../stores/rabbitmq-place.ts';
import type { Contestant, Payload } from './contestant.ts';

/** What consumers are usually given: enough to hide a round trip. */
const PREFETCH = 100;
/** The same kind of queue as Surety's: its limit on deliveries would drop jobs, its limit on time would close channels. */
const ARGUMENTS = {
  'x-queue-type': 'quorum',
  'x-delivery-limit': 2 ** 31 - 1,
  'x-overflow': 'reject-publish',
  'x-consumer-timeout': 2 ** 31 - 1,
};

/**
 * The client alone: a consumer that holds a hundred jobs, whatever it can run, and acknowledges each by itself; confirmed publishes, as many under way as
 * there are calls. No retry, no lease, no dead letter, and a publish without a queue counts as stored.
 */
export const amqplib: Contestant = plain('amqplib', () => PREFETCH);

/** The same, holding what it can run and no more, as Surety does: what a crashed worker held is charged an attempt. */
export const amqplibFitted: Contestant = plain('amqplib-fitted', (concurrency) => concurrency);

function plain(name: string, prefetchFor: (concurrency: number) => number): Contestant {
  return {
    name,
    packages: ['amqplib'],
    observe: (location) => observeRabbitmqQueues(location, [plainQueue(placeOf(location).prefix)]),
    async prepare(location) {
      const { connection, channel, queue } = await open(location);
      await channel.assertQueue(queue, { durable: true, arguments: ARGUMENTS });
      await connection.close();
    },
    async startProducer(location) {
      const { connection, channel, queue } = await open(location);
      const publish = (payload: Payload): Promise<void> =>
        new Promise((resolve, reject) => {
          const body = Buffer.from(JSON.stringify(payload));
          channel.sendToQueue(queue, body, { persistent: true, mandatory: true }, (error: Error | null) => {
            if (error === null) resolve();
            else reject(error);
          });
        });
      return {
        enqueue: publish,
        async enqueueMany(payloads, delayMs = 0) {
          if (delayMs > 0) throw new Error('the client alone has no delays');
          await Promise.all(payloads.map(publish));
        },
        stop: () => connection.close(),
      };
    },
    async startWorker(location, { concurrency, handler }) {
      const { connection, channel, queue } = await open(location);
      await channel.prefetch(prefetchFor(concurrency));
      const waiting: Message[] = [];
      let running = 0;
      const run = (message: Message): void => {
        running += 1;
        void handler(JSON.parse(message.content.toString('utf8')) as Payload).then(() => {
          channel.ack(message);
          running -= 1;
          const next = waiting.shift();
          if (next !== undefined) run(next);
        });
      };
      const { consumerTag } = await channel.consume(queue, (message) => {
        if (message === null) return;
        if (running < concurrency) run(message);
        else waiting.push(message);
      });
      return {
        async stop() {
          await channel.cancel(consumerTag);
          // In order with the acknowledgements before it.
          await channel.close();
          await connection.close();
        },
      };
    },
  };
}

interface Opened {
  readonly connection: ChannelModel;
  readonly channel: ConfirmChannel;
  readonly queue: string;
}

async function open(location: string): Promise<Opened> {
  const { url, prefix } = placeOf(location);
  // Without the option every acknowledgement waits for the one before.
  const connection = await connect(url, { noDelay: true });
  connection.on('error', (error) => console.error(error));
  return { connection, channel: await connection.createConfirmChannel(), queue: plainQueue(prefix) };
}
