import { startSqs } from '@surety/testbed';
import { askSqs } from '../observers/ask-sqs.ts';
import type { Store } from './store.ts';

/** What one job costs in requests; those of pumps and of looks at a pause are left out, which come by the minute and not by the job. */
const PER_STORED_JOB = ['SendMessage', 'SendMessageBatch'];
const PER_HANDLED_JOB = [
  'ReceiveMessage',
  'DeleteMessage',
  'DeleteMessageBatch',
  'ChangeMessageVisibility',
  'ChangeMessageVisibilityBatch',
];

/** A private emulator, its messages in memory alone. A place is a prefix of names: `http://127.0.0.1:port/p1`. */
export async function openSqsStore(): Promise<Store> {
  const server = await startSqs({ durable: false });
  let places = 0;
  return {
    settings: { durable: 'no' },
    versions: { emulator: server.version },
    create: async () => `${server.endpoint}/p${++places}`,
    settle: async () => undefined,
    async drop(location) {
      const prefix = new URL(location).pathname.slice(1);
      const { QueueUrls = [] } = await askSqs(location, 'ListQueues', { QueueNamePrefix: `${prefix}-` });
      for (const QueueUrl of QueueUrls) await askSqs(location, 'DeleteQueue', { QueueUrl });
    },
    bytes: async () => 0,
    cpuUs: async () => null,
    async countRequests() {
      await server.takeRequestCounts();
      return async ({ stored, handled }) => {
        const counts = await server.takeRequestCounts();
        const sum = (actions: readonly string[]): number =>
          actions.reduce((all, action) => all + (counts[action] ?? 0), 0);
        return sum(PER_STORED_JOB) / stored + sum(PER_HANDLED_JOB) / handled;
      };
    },
    [Symbol.asyncDispose]: () => server.destroy(),
  };
}
