import { type RabbitmqServer, startRabbitmq } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  accept,
  CALL,
  claim,
  claimAll,
  complete,
  eventually,
  freshQueue,
  newJob,
  opened,
} from './backends.ts';
import { withChannel } from './raw-channel.ts';

let server: RabbitmqServer;
beforeAll(async () => {
  server = await startRabbitmq();
});
afterAll(() => server.destroy());

async function deleteQueue(name: string): Promise<void> {
  await withChannel(server.url, (channel) => channel.deleteQueue(name));
}

/** The first part of the ladder of a queue. */
async function deleteLevels(queue: string): Promise<void> {
  await withChannel(server.url, async (channel) => {
    for (let level = 0; level <= 8; level++) await channel.deleteQueue(`surety.${queue}.delay.${level}`);
  });
}

describe('a job that reaches no queue', () => {
  it('is rejected, not confirmed; the next call makes the queue again (B001)', async () => {
    await using backend = await opened({ url: server.url });
    const queue = freshQueue();
    await accept(backend, [newJob(queue)]);
    await deleteQueue(`surety.${queue}`);
    const job = newJob(queue);
    const [outcome] = await backend.enqueue([job], CALL);
    expect(outcome).toMatchObject({
      status: 'rejected',
      error: { code: 'BACKEND_UNAVAILABLE', retryable: 'yes' },
    });
    await accept(backend, [job]);
    const [lease] = await claimAll(backend, queue, 1);
    expect(lease?.id).toBe(job.id);
  });

  it('is told apart from its neighbours (B001)', async () => {
    await using backend = await opened({ url: server.url });
    const queues = Array.from({ length: 10 }, freshQueue);
    await accept(
      backend,
      queues.map((queue) => newJob(queue)),
    );
    const [lost = ''] = queues;
    await deleteQueue(`surety.${lost}`);
    const jobs = Array.from({ length: 50 }, (_, n) => newJob(queues[n === 17 ? 0 : 1 + (n % 9)] ?? ''));
    const outcomes = await Promise.all(jobs.map((job) => backend.enqueue([job], CALL)));
    expect(outcomes.flat().map(({ status }) => status)).toEqual(
      jobs.map((_, n) => (n === 17 ? 'rejected' : 'accepted')),
    );
  });

  it('is made room for when a running job needs it: a missing dead queue loses no burial (B069)', async () => {
    await using backend = await opened({ url: server.url });
    const queue = freshQueue();
    await accept(backend, [newJob(queue)]);
    const [lease] = await claimAll(backend, queue, 1);
    if (lease === undefined) throw new Error('no lease');
    await deleteQueue(`surety.${queue}.dead`);
    const error = { code: 'BURIED', name: 'Error', message: 'x', stack: null, attempt: 1 };
    expect(await backend.settle([{ kind: 'bury', lease, error }], CALL)).toEqual([{ status: 'settled' }]);
    expect(await backend.deadLetters.show(queue, lease.id, CALL)).toMatchObject({
      id: lease.id,
      reason: 'BURIED',
    });
  });

  it('is found out for a delay too, whose level is gone, by a process that does not move the delayed jobs', async () => {
    const queue = freshQueue();
    await using mover = await opened({ url: server.url, queues: [queue] });
    await accept(mover, [newJob(queue, { delayMs: 100 })]);
    await complete(mover, await claimAll(mover, queue, 1));
    await using backend = await opened({ url: server.url });
    await accept(backend, [newJob(queue, { delayMs: 100 })]);
    await complete(backend, await claimAll(backend, queue, 1));
    await deleteLevels(queue);
    const [outcome] = await backend.enqueue([newJob(queue, { delayMs: 100 })], CALL);
    expect(outcome).toMatchObject({
      status: 'rejected',
      error: { code: 'BACKEND_UNAVAILABLE', retryable: 'yes' },
    });
    await accept(backend, [newJob(queue, { delayMs: 100 })]);
    await claimAll(backend, queue, 1);
  });

  it('does not happen in the process that moves the delayed jobs: it hears when a level goes', async () => {
    const queue = freshQueue();
    await using backend = await opened({ url: server.url });
    await accept(backend, [newJob(queue, { delayMs: 100 })]);
    await complete(backend, await claimAll(backend, queue, 1));
    await deleteLevels(queue);
    await eventually('the levels are made again', async () => {
      const [outcome] = await backend.enqueue([newJob(queue, { delayMs: 100 })], CALL);
      return outcome?.status === 'accepted';
    });
    await claimAll(backend, queue, 1);
  });
});

describe('a broker that refuses', () => {
  it('leaves the outcome unknown where an operator has limited the queue, and says what to remove', async () => {
    await using backend = await opened({ url: server.url });
    const queue = freshQueue();
    await accept(backend, [newJob(queue)]);
    await server.control(
      'set_policy',
      'full',
      `^surety\\.${queue}$`,
      '{"max-length":1}',
      '--apply-to',
      'queues',
    );
    try {
      const refused = await eventually('a full queue refuses', async () =>
        (await backend.enqueue([newJob(queue)], CALL)).find(({ status }) => status !== 'accepted'),
      );
      expect(refused).toMatchObject({
        status: 'unknown',
        error: { code: 'BACKEND_OVERLOADED', message: expect.stringContaining('max-length') },
      });
    } finally {
      await server.control('clear_policy', 'full');
    }
  });

  it('names the size where the broker takes less than Surety does', async () => {
    await using backend = await opened({ url: server.url });
    const queue = freshQueue();
    await accept(backend, [newJob(queue)]);
    await server.control(
      'eval',
      'persistent_term:put(max_message_size, 10000), application:set_env(rabbit, max_message_size, 10000).',
    );
    try {
      await server.closeConnections();
      const big = newJob(queue, { payload: JSON.stringify('x'.repeat(20_000)) });
      const [outcome] =
        (await eventually('it is back', async () => {
          const outcomes = await backend.enqueue([big], CALL);
          return outcomes[0]?.status === 'accepted' ||
            (outcomes[0]?.status === 'rejected' && outcomes[0].error.code === 'PAYLOAD_TOO_LARGE')
            ? outcomes
            : null;
        })) ?? [];
      expect(outcome).toMatchObject({ status: 'rejected', error: { code: 'PAYLOAD_TOO_LARGE' } });
    } finally {
      await server.control(
        'eval',
        'persistent_term:put(max_message_size, 134217728), application:set_env(rabbit, max_message_size, 134217728).',
      );
      await server.closeConnections();
    }
  });
});

describe('a memory alarm', () => {
  it('ends enqueues in time and lets running jobs be settled; all goes on when it clears (B043, B108)', async () => {
    await using backend = await opened({ url: server.url });
    const queue = freshQueue();
    await accept(
      backend,
      Array.from({ length: 20 }, () => newJob(queue)),
    );
    const running = await claimAll(backend, queue, 5);
    await server.setMemoryAlarm(true);
    try {
      const from = performance.now();
      const [first] = await backend.enqueue([newJob(queue)], { timeoutMs: 1000 });
      expect(first?.status === 'unknown' || first?.status === 'rejected').toBe(true);
      expect(performance.now() - from).toBeLessThan(3000);
      // From here on the broker has told that it is blocked: nothing is sent, and nothing waits in memory.
      const payload = JSON.stringify('x'.repeat(100_000));
      const before = process.memoryUsage.rss();
      const many = await Promise.all(
        Array.from({ length: 2000 }, () =>
          backend.enqueue([newJob(queue, { payload })], { timeoutMs: 1000 }),
        ),
      );
      for (const [outcome] of many)
        expect(outcome).toMatchObject({ status: 'rejected', error: { code: 'BACKEND_OVERLOADED' } });
      expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 1024 * 1024);
      expect(await complete(backend, running)).toEqual(running.map(() => 'settled'));
      expect(await complete(backend, await claimAll(backend, queue, 3))).toEqual([
        'settled',
        'settled',
        'settled',
      ]);
      // A retry needs a copy, which cannot be stored now: the lease goes on.
      const [lease] = await claim(backend, queue);
      if (lease === undefined) throw new Error('no lease');
      const error = { code: 'X', name: 'Error', message: 'x', stack: null, attempt: 1 };
      const [outcome] = await backend.settle([{ kind: 'retry', lease, delayMs: 0, error }], {
        timeoutMs: 1000,
      });
      expect(outcome?.status).toBe('unknown');
      const [renewed] = await backend.renew([lease], 60_000, CALL);
      expect(renewed?.status).toBe('renewed');
      expect(await complete(backend, [lease])).toEqual(['settled']);
    } finally {
      await server.setMemoryAlarm(false);
    }
    await eventually(
      'enqueue works again',
      async () => (await backend.enqueue([newJob(queue)], CALL))[0]?.status === 'accepted',
    );
  });
});
