import type { Backend, DeadSelection, NewJob } from '@surety/core/contract';
import { type RabbitmqServer, startRabbitmq } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accept, CALL, claim, claimAll, eventually, freshQueue, newJob, opened } from './backends.ts';
import { lengthOf, withChannel } from './raw-channel.ts';

let server: RabbitmqServer;
beforeAll(async () => {
  server = await startRabbitmq();
});
afterAll(() => server.destroy());

const ERROR = { code: 'HANDLER_FAILED', name: 'Error', message: 'x', stack: null, attempt: 1 };

async function dead(
  backend: Backend,
  queue: string,
  count: number,
  typeOf: (n: number) => string = () => 'task',
): Promise<readonly NewJob[]> {
  const jobs = Array.from({ length: count }, (_, n) => newJob(queue, { type: typeOf(n) }));
  await accept(backend, jobs);
  const leases = await claimAll(backend, queue, count);
  await backend.settle(
    leases.map((lease) => ({ kind: 'bury', lease, error: ERROR })),
    CALL,
  );
  return jobs;
}

describe('dead letters', () => {
  it('are all there after many listings, which the broker counts as deliveries', async () => {
    await using backend = await opened({ url: server.url });
    const queue = freshQueue();
    const jobs = await dead(backend, queue, 20);
    for (let n = 0; n < 30; n++) {
      const { entries } = await backend.deadLetters.list(
        { queue, limit: 100, cursor: null, type: null },
        CALL,
      );
      expect(entries.map(({ id }) => id).toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
    }
    const [job] = jobs;
    expect(await backend.deadLetters.redrive(queue, { ids: [job?.id ?? ''] }, CALL)).toEqual([
      { status: 'redriven', id: job?.id },
    ]);
    const [lease] = await claimAll(backend, queue, 1);
    expect(lease).toMatchObject({ id: job?.id, attempt: 1, redrives: 1, lostClaims: 0 });
  });

  it('are found deep in a long queue, and what was looked at is put back', async () => {
    await using backend = await opened({ url: server.url });
    const queue = freshQueue();
    const jobs = await dead(backend, queue, 400);
    const last = jobs.at(-1)?.id ?? '';
    expect(await backend.deadLetters.show(queue, last, CALL)).toMatchObject({ id: last });
    expect(await backend.deadLetters.discard(queue, { ids: [last] }, CALL)).toEqual([
      { status: 'discarded', id: last },
    ]);
    expect((await backend.counts(queue, CALL)).dead.value).toBe(399);
  });

  it('that were discarded or redriven do not come back', async () => {
    await using backend = await opened({ url: server.url });
    const queue = freshQueue();
    const types = ['kept', 'discarded', 'kept', 'redriven'];
    await dead(backend, queue, 280, (n) => types[n % 4] ?? '');
    const select = (type: string | null): DeadSelection => ({ limit: 500, type });
    expect(await backend.deadLetters.discard(queue, select('discarded'), CALL)).toHaveLength(70);
    expect(await backend.deadLetters.redrive(queue, select('redriven'), CALL)).toHaveLength(70);
    const { ready, dead: left } = await backend.counts(queue, CALL);
    expect([ready.value, left.value]).toEqual([70, 140]);
    const page = { queue, limit: 500, cursor: null, type: null };
    const { entries } = await backend.deadLetters.list(page, CALL);
    expect(new Set(entries.map(({ type }) => type))).toEqual(new Set(['kept']));
    expect(await backend.deadLetters.discard(queue, select(null), CALL)).toHaveLength(140);
    expect((await backend.counts(queue, CALL)).dead.value).toBe(0);
  });

  it('are seen by several who look at once', async () => {
    await using backend = await opened({ url: server.url });
    await using other = await opened({ url: server.url });
    const queue = freshQueue();
    await dead(backend, queue, 10);
    const pages = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        (n % 2 === 0 ? backend : other).deadLetters.list(
          { queue, limit: 100, cursor: null, type: null },
          CALL,
        ),
      ),
    );
    expect(pages.map(({ entries }) => entries.length)).toEqual(Array.from({ length: 8 }, () => 10));
  });

  it('outlive a lister that is cut off in the middle', async () => {
    await using backend = await opened({ url: server.url });
    const queue = freshQueue();
    await dead(backend, queue, 50);
    const listing = backend.deadLetters
      .list({ queue, limit: 100, cursor: null, type: null }, CALL)
      .catch(() => null);
    await server.closeConnections();
    await listing;
    await eventually('all are listed', async () => {
      const page = await backend.deadLetters
        .list({ queue, limit: 100, cursor: null, type: null }, CALL)
        .catch(() => null);
      return page?.entries.length === 50;
    });
  });

  it('hold what a policy of the operator moved there', async () => {
    await using backend = await opened({ url: server.url });
    const queue = freshQueue();
    await claim(backend, queue);
    await server.control(
      'set_policy',
      'short',
      `^surety\\.${queue}$`,
      '{"message-ttl":100}',
      '--apply-to',
      'queues',
    );
    try {
      const [entry] =
        (await eventually('it is dead', async () => {
          // Only what comes after the policy has reached the queue dies by it.
          await accept(backend, [newJob(queue)]);
          const { entries } = await backend.deadLetters.list(
            { queue, limit: 5, cursor: null, type: null },
            CALL,
          );
          return entries.length > 0 ? entries : null;
        })) ?? [];
      expect(entry).toMatchObject({ state: 'dead', reason: 'INTERNAL', lastError: null });
      expect(Math.abs(Date.parse(entry?.deadAt ?? '') - Date.now())).toBeLessThan(60_000);
    } finally {
      await server.control('clear_policy', 'short');
    }
  });

  it('take what is none of ours: a foreign message stops nobody', async () => {
    await using backend = await opened({ url: server.url });
    const queue = freshQueue();
    const job = newJob(queue);
    await accept(backend, [job]);
    await withChannel(server.url, async (channel) => {
      channel.sendToQueue(`surety.${queue}`, Buffer.from('hello'), {
        persistent: true,
        headers: { 'x-delivery-count': 5 },
      });
      await channel.waitForConfirms();
    });
    const [lease] = await claimAll(backend, queue, 1);
    expect(lease?.id).toBe(job.id);
    const entry = await eventually('it is among the dead', async () => {
      await claim(backend, queue);
      const { entries } = await backend.deadLetters.list({ queue, limit: 5, cursor: null, type: null }, CALL);
      return entries[0];
    });
    expect(entry).toMatchObject({ reason: 'PAYLOAD_CORRUPT', payload: 'hello' });
    expect(await withChannel(server.url, (channel) => lengthOf(channel, `surety.${queue}`))).toBe(0);
  });
});
