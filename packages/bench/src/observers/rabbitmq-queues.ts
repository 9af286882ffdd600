import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'amqplib';
import { placeOf } from '../stores/rabbitmq-place.ts';
import type { Observer } from './observer.ts';

/** What a connection that has ended held is back in its queue well within this. */
const RETURN_MS = 250;

/**
 * Counts what is in some queues of a place. AMQP does not tell what is delivered and not acknowledged: while a worker runs, a place is empty with the
 * delivery of its last job, for all contestants alike. What it did not acknowledge comes back when it has stopped, and is counted then.
 */
export async function observeRabbitmqQueues(location: string, names: readonly string[]): Promise<Observer> {
  const connection = await connect(placeOf(location).url, { noDelay: true });
  // A connection that breaks rejects the question under way; without a listener it would end the process too.
  connection.on('error', () => undefined);
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  const jobsLeft = async (): Promise<number> => {
    const counts = await Promise.all(names.map((name) => channel.checkQueue(name)));
    return counts.reduce((sum, { messageCount }) => sum + messageCount, 0);
  };
  return {
    isEmpty: async () => (await jobsLeft()) === 0,
    async jobsLeft() {
      await sleep(RETURN_MS);
      return jobsLeft();
    },
    close: () => connection.close(),
  };
}
