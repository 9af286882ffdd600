import { type Client, createWorker, defineJob, handle, type Worker } from '@surety/core';
import { type RedisCapabilities, type RedisOptions, redis } from '@surety/redis';

// region: define
// was: new Queue('mail', { defaultJobOptions: { attempts: 5, backoff: { type: 'exponential', delay: 2000 } } })
export const welcome = defineJob<{ email: string }>('mail.welcome', {
  queue: 'mail',
  retry: { maxAttempts: 5, base: '2s' },
  timeout: '30s',
});
// endregion

// region: enqueue
export async function signedUp(client: Client<RedisCapabilities>, email: string): Promise<void> {
  // was: queue.add('welcome', { email }, { deduplication: { id: email, ttl: 86_400_000 }, delay: 60_000, priority: 1 })
  await client.enqueue(
    welcome,
    { email },
    { dedupeKey: `welcome ${email}`, dedupeWindow: '1d', delay: '1m', priority: 0 },
  );
}
// endregion

// region: work
// was: new Worker('mail', process, { concurrency: 50, limiter: { max: 20, duration: 1000 } })
export function mailWorker(
  options: RedisOptions,
  send: (email: string, key: string) => Promise<void>,
): Worker {
  return createWorker({
    backend: redis(options),
    concurrency: 50,
    rate: { perSecond: 20 },
    log: 'failures',
    handlers: [handle(welcome, ({ email }, { idempotencyKey }) => send(email, idempotencyKey))],
  });
}
// endregion
