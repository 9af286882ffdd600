import { startRedisPair } from '@surety/testbed';
import { describe, expect, test } from 'vitest';
import { CALL, claim, freshQueue, newJob, openBackend, put } from './store.ts';

describe('an enqueue that asks for replicas', () => {
  test('is accepted when they have it, and unknown when they do not in time; the job is stored', async () => {
    await using pair = await startRedisPair();
    const confirm = { replicas: 1, withinMs: 500 };
    const backend = await openBackend({ connection: pair.primary.url, confirm });
    expect(backend.capabilities.durability).toEqual({ replicated: 1 });
    const queue = freshQueue();
    await put(backend, queue, 3);
    await pair.replica.pause();
    const jobs = [newJob(queue), newJob(queue)];
    const outcomes = await backend.enqueue(jobs, CALL);
    expect(outcomes.map((outcome) => outcome.status === 'unknown' && outcome.error.code)).toEqual([
      'DURABILITY_NOT_REACHED',
      'DURABILITY_NOT_REACHED',
    ]);
    // Workers do not stand still behind it.
    expect(await claim(backend, queue)).toHaveLength(5);
    await pair.replica.resume();
    // Repeated by its id it is known, and this time the replica has it.
    const again = await backend.enqueue(jobs, CALL);
    expect(again.map(({ status }) => status)).toEqual(['duplicate', 'duplicate']);
    await put(backend, queue);
    await backend.close({ graceMs: 1000 });
  });
});
