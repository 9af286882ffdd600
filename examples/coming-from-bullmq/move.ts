import type { Client } from '@surety/core';
import type { RedisCapabilities } from '@surety/redis';
import type { Job, Queue } from 'bullmq';
import { welcome } from './mail.ts';

// region: move
/**
 * Moves what waits in a queue of BullMQ. By then producers enqueue with Surety; what is running ends with BullMQ's workers. A job is
 * stored before it is removed, under a key of its own: whoever dies in between starts again, and nothing is there twice.
 */
export async function moveMail(from: Queue, client: Client<RedisCapabilities>): Promise<number> {
  await from.pause();
  for (let moved = 0; ; ) {
    const jobs: Job<{ email: string }>[] = await from.getJobs(['waiting', 'delayed', 'prioritized'], 0, 99);
    if (jobs.length === 0) return moved;
    for (const job of jobs) {
      const key = `bullmq ${from.name} ${job.id}`;
      const delay = Math.max(0, job.timestamp + job.delay - Date.now());
      await client.enqueue(welcome, job.data, {
        idempotencyKey: key,
        dedupeKey: key,
        dedupeWindow: '7d',
        delay,
      });
      await job.remove();
      moved += 1;
    }
  }
}
// endregion
