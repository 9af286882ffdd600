import { type RabbitmqServer, startRabbitmq } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rabbitmq } from '../src/index.ts';
import { accept, CALL, claim, claimAll, freshQueue, newJob, opened } from './backends.ts';
import { withChannel } from './raw-channel.ts';

let server: RabbitmqServer;
beforeAll(async () => {
  server = await startRabbitmq();
});
afterAll(() => server.destroy());

describe('what is declared', () => {
  it('is durable and loses nothing: no limit, a dead target, at least once (B047, B063)', async () => {
    await using backend = await opened({ url: server.url, prefix: 'args' });
    await accept(backend, [newJob('mail', { delayMs: 1000 })]);
    await backend.pacing.pause('mail', CALL);
    const table = await server.control(
      'list_queues',
      '--quiet',
      '--no-table-headers',
      'name',
      'durable',
      'type',
      'arguments',
    );
    const lines = table.split('\n').filter((line) => line.startsWith('args.'));
    const names = lines.map((line) => line.split('\t')[0] ?? '').toSorted();
    expect(names).toEqual(
      [
        'args.mail',
        'args.mail.dead',
        'args.mail.delay',
        'args.mail.paused',
        ...Array.from({ length: 9 }, (_, n) => `args.mail.delay.${n}`),
      ].toSorted(),
    );
    for (const line of lines) {
      expect(line).toMatch(/\ttrue\t.*quorum\t/);
      for (const text of ['x-delivery-limit', '2147483647', 'reject-publish', 'x-consumer-timeout'])
        expect(line).toContain(text);
      // The net under a job that the broker itself takes out of the queue.
      if (line.startsWith('args.mail\t')) expect(line).toContain('at-least-once');
    }
  });

  it('is refused by name where somebody else declared it otherwise; other queues work (B124)', async () => {
    const queue = freshQueue();
    await withChannel(server.url, async (channel) => {
      await channel.assertQueue(`surety.${queue}`, {
        durable: true,
        arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': 5 },
      });
    });
    await using backend = await opened({ url: server.url });
    const [refused, fine] = await backend.enqueue([newJob(queue), newJob(freshQueue())], CALL);
    expect(refused).toMatchObject({
      status: 'rejected',
      error: { code: 'STORE_UNSUITABLE', retryable: 'no' },
    });
    if (refused?.status !== 'rejected') throw new Error('not rejected');
    expect(refused.error.message).toMatch(/"surety\..*x-/);
    expect(fine?.status).toBe('accepted');
    await expect(claim(backend, queue)).rejects.toMatchObject({ code: 'STORE_UNSUITABLE' });
    await accept(backend, [newJob(freshQueue())]);
  });

  it('is only checked where the process may not declare', async () => {
    const queue = freshQueue();
    const strict = rabbitmq({ url: server.url, declare: false, prefix: 'strict' });
    await expect(strict.open({ ...CALL, notify: () => undefined })).rejects.toMatchObject({
      code: 'SCHEMA_MISSING',
    });
    await using maker = await opened({ url: server.url, prefix: 'strict' });
    await strict.open({ ...CALL, notify: () => undefined });
    try {
      const [missing] = await strict.enqueue([newJob(queue)], CALL);
      expect(missing).toMatchObject({ status: 'rejected', error: { code: 'SCHEMA_MISSING' } });
      await accept(maker, [newJob(queue, { delayMs: 10 })]);
      await accept(strict, [newJob(queue), newJob(queue, { delayMs: 10 })]);
      await claimAll(strict, queue, 3);
    } finally {
      await strict.close({ graceMs: 1000 });
    }
  });

  it('needs rights, and says so at open', async () => {
    await server.control('add_user', 'weak', 'weak-secret');
    await server.control('set_permissions', 'weak', '', '.*', '.*');
    const url = new URL(server.url);
    url.username = 'weak';
    url.password = 'weak-secret';
    const weak = rabbitmq({ url: url.href, prefix: 'weak' });
    await expect(weak.open({ ...CALL, notify: () => undefined })).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
    });
    url.password = 'wrong';
    const wrong = rabbitmq({ url: url.href });
    const refused = wrong.open({ ...CALL, notify: () => undefined });
    await expect(refused).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    await expect(refused).rejects.not.toThrow(/wrong|weak-secret/);
  });

  it('is made at open for the queues that are named, an hour of delays included', async () => {
    const queue = freshQueue();
    await using backend = await opened({ url: server.url, queues: [queue] });
    const from = performance.now();
    await accept(backend, [newJob(queue), newJob(queue, { delayMs: 3_600_000 })]);
    // Nothing has to become old enough any more.
    expect(performance.now() - from).toBeLessThan(1400);
    expect((await backend.counts(queue, CALL)).scheduled.value).toBe(1);
  });
});
