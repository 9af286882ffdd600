import {
  CreateQueueCommand,
  GetQueueUrlCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';
import { observeSqsQueues } from '../observers/sqs-queues.ts';
import type { Contestant, Payload } from './contestant.ts';

const QUEUE = 'consumer';
/** The most that the service hands out at once, and takes at once. */
const BATCH = 10;
const LONGEST_DELAY_S = 900;

/**
 * One consumer receives, runs and deletes one batch of ten after the other, so that a concurrency of 100 is ten consumers. Whole batches are handled and
 * deleted at once, which is its fastest and cheapest way.
 */
export const sqsConsumer: Contestant = {
  name: 'sqs-consumer',
  packages: ['sqs-consumer', '@aws-sdk/client-sqs'],
  observe: (location) => observeSqsQueues(location, [QUEUE]),
  async prepare(location) {
    const client = clientAt(location);
    await client.send(new CreateQueueCommand({ QueueName: nameIn(location) }));
    client.destroy();
  },
  async startProducer(location) {
    const client = clientAt(location);
    const QueueUrl = await urlAt(client, location);
    return {
      async enqueue(payload) {
        await client.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(payload) }));
      },
      async enqueueMany(payloads, delayMs = 0) {
        const DelaySeconds = Math.min(LONGEST_DELAY_S, Math.ceil(delayMs / 1000));
        const batches = Array.from({ length: Math.ceil(payloads.length / BATCH) }, (_, n) =>
          payloads.slice(n * BATCH, (n + 1) * BATCH),
        );
        await Promise.all(
          batches.map(async (batch) => {
            const Entries = batch.map((payload, index) => ({
              Id: String(index),
              MessageBody: JSON.stringify(payload),
              DelaySeconds,
            }));
            const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
            if (Failed.length > 0) throw new Error(`a message was not taken: ${JSON.stringify(Failed[0])}`);
          }),
        );
      },
      stop: async () => client.destroy(),
    };
  },
  async startWorker(location, { concurrency, handler }) {
    const client = clientAt(location);
    const queueUrl = await urlAt(client, location);
    const consumers = Array.from({ length: Math.max(1, Math.round(concurrency / BATCH)) }, () =>
      Consumer.create({
        queueUrl,
        sqs: client,
        batchSize: Math.min(BATCH, concurrency),
        waitTimeSeconds: 5,
        handleMessageBatch: async (messages) => {
          await Promise.all(messages.map(({ Body = '' }) => handler(JSON.parse(Body) as Payload)));
          return messages;
        },
      }),
    );
    for (const consumer of consumers) {
      consumer.on('error', (error) => console.error(error));
      consumer.start();
    }
    return {
      async stop() {
        for (const consumer of consumers) consumer.stop({ abort: true });
        client.destroy();
      },
    };
  },
};

function clientAt(location: string): SQSClient {
  return new SQSClient({
    region: 'us-east-1',
    endpoint: new URL(location).origin,
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
    useQueueUrlAsEndpoint: false,
  });
}

function nameIn(location: string): string {
  return `${new URL(location).pathname.slice(1)}-${QUEUE}`;
}

async function urlAt(client: SQSClient, location: string): Promise<string> {
  const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: nameIn(location) }));
  return QueueUrl ?? '';
}
