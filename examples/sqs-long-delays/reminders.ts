import { type Client, createClient, createWorker, defineJob, handle, type Worker } from '@surety/core';
import { type SqsOptions, sqs } from '@surety/sqs';

const remind = defineJob<{ email: string }>('account.remind', { queue: 'mail', timeout: '30s' });

/** In the web process: rights to send are enough. */
export function signUps(options: SqsOptions): Client {
  return createClient({ backend: sqs(options) });
}

export async function signedUp(client: Client, email: string): Promise<void> {
  await client.enqueue(remind, { email }, { delay: '3d', idempotencyKey: `remind ${email}` });
}

/** Its process also brings delayed jobs nearer. */
export function reminders(options: SqsOptions, send: (email: string, key: string) => Promise<void>): Worker {
  return createWorker({
    backend: sqs(options),
    concurrency: 20,
    log: 'failures',
    handlers: [handle(remind, ({ email }, { idempotencyKey }) => send(email, idempotencyKey))],
  });
}
