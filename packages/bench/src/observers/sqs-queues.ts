import { askSqs } from './ask-sqs.ts';
import type { Observer } from './observer.ts';

const FIGURES = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
];

/** Counts what is in some queues of a place, visible or not. */
export async function observeSqsQueues(location: string, names: readonly string[]): Promise<Observer> {
  const prefix = new URL(location).pathname.slice(1);
  const countIn = async (name: string): Promise<number> => {
    const { QueueUrl } = await askSqs(location, 'GetQueueUrl', { QueueName: `${prefix}-${name}` });
    const { Attributes = {} } = await askSqs(location, 'GetQueueAttributes', {
      QueueUrl,
      AttributeNames: FIGURES,
    });
    return FIGURES.reduce((sum, figure) => sum + Number(Attributes[figure] ?? 0), 0);
  };
  const jobsLeft = async (): Promise<number> =>
    (await Promise.all(names.map(countIn))).reduce((sum, count) => sum + count, 0);
  return { isEmpty: async () => (await jobsLeft()) === 0, jobsLeft, close: async () => undefined };
}
