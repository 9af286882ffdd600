import { setTimeout as sleep } from 'node:timers/promises';
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

describe('a waiting claim', () => {
  it('keeps nothing that nobody asked for: what came after it goes back uncharged', async () => {
    await using first = await opened({ url: server.url });
    await using second = await opened({ url: server.url });
    const queue = freshQueue();
    const waiting = claim(first, queue, { max: 10, waitMs: 20_000 });
    await accept(second, [newJob(queue)]);
    const held = await waiting;
    expect(held).toHaveLength(1);
    // The consumer of the claim may still be open: it can take up to nine of these.
    const jobs = Array.from({ length: 12 }, () => newJob(queue));
    await accept(second, jobs);
    const leases = await claimAll(second, queue, 12);
    expect(leases.map(({ id }) => id).toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
    for (const { attempt, lostClaims } of leases)
      expect({ attempt, lostClaims }).toEqual({ attempt: 1, lostClaims: 0 });
  });

  it('brings up to what was asked, claim after claim, and no more', async () => {
    await using backend = await opened({ url: server.url });
    await using producer = await opened({ url: server.url });
    const queue = freshQueue();
    const seen = new Set<string>();
    const jobs = Array.from({ length: 300 }, () => newJob(queue));
    const producing = (async () => {
      for (let at = 0; at < jobs.length; at += 30) await accept(producer, jobs.slice(at, at + 30));
    })();
    let held: Awaited<ReturnType<typeof claim>> = [];
    while (seen.size < jobs.length) {
      const max = 20 - held.length;
      const came = await claim(backend, queue, { max, waitMs: 5000 });
      expect(came.length).toBeLessThanOrEqual(max);
      for (const { id, attempt } of came) {
        expect(seen.has(id)).toBe(false);
        expect(attempt).toBe(1);
        seen.add(id);
      }
      const all = [...held, ...came];
      const done = all.slice(0, Math.ceil(all.length / 2));
      held = all.slice(done.length);
      expect(new Set(await complete(backend, done)).size).toBeLessThanOrEqual(1);
    }
    await complete(backend, held);
    await producing;
    expect(await claim(producer, queue)).toEqual([]);
  });

  it('that came to its end leaves one copy of each job, whenever the process stops', async () => {
    await using producer = await opened({ url: server.url });
    const queues = Array.from({ length: 12 }, freshQueue);
    await Promise.all(queues.map((queue) => accept(producer, [newJob(queue)])));
    // The consumers are given up 50 ms after the last that they did.
    for (const restMs of [0, 15, 30, 45]) {
      const backend = await opened({ url: server.url });
      const leases = await Promise.all(
        queues.map((queue) => claim(backend, queue, { max: 2, waitMs: 60_000 })),
      );
      expect(await complete(backend, leases.flat())).toEqual(queues.map(() => 'settled'));
      // Brought by consumers that are still open, and given back some ms later or by the stop.
      for (const queue of queues) await accept(producer, [newJob(queue)]);
      await sleep(restMs);
      // Long enough for a busy machine: cut short, a stop may leave two copies.
      await backend.close({ graceMs: 30_000 });
      const counts = await Promise.all(queues.map((queue) => producer.counts(queue, CALL)));
      expect(counts.map(({ ready }) => ready.value)).toEqual(queues.map(() => 1));
    }
  });

  it('goes on after its queue was deleted, without an end of the process (B029)', async () => {
    const notices: string[] = [];
    await using backend = await opened({ url: server.url }, (notice) => void notices.push(notice.kind));
    await using producer = await opened({ url: server.url });
    const queue = freshQueue();
    await accept(producer, [newJob(queue)]);
    const [first] = await claim(backend, queue, { waitMs: 1000 });
    expect(first).toBeDefined();
    const waiting = claim(backend, queue, { waitMs: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await withChannel(server.url, (channel) => channel.deleteQueue(`surety.${queue}`));
    const job = newJob(queue);
    await eventually(
      'the job is accepted',
      async () => (await producer.enqueue([job], CALL))[0]?.status === 'accepted',
    );
    expect((await waiting).map(({ id }) => id)).toEqual([job.id]);
    expect(notices).toContain('degraded');
    if (first !== undefined) expect(await complete(backend, [first])).toEqual(['lease-lost']);
  });
});

describe('an acknowledgement', () => {
  it('is sent once: a second or late one is refused here, and takes no neighbour along (B033)', async () => {
    await using backend = await opened({ url: server.url });
    await using other = await opened({ url: server.url });
    const queue = freshQueue();
    await accept(
      backend,
      Array.from({ length: 12 }, () => newJob(queue)),
    );
    const leases = await claimAll(backend, queue, 10);
    const [short] = await claim(backend, queue, { leaseMs: 500 });
    const [twice] = leases;
    if (twice === undefined || short === undefined) throw new Error('no lease');
    const both = await Promise.all([complete(backend, [twice]), complete(backend, [twice])]);
    expect(both.flat().toSorted()).toEqual(['lease-lost', 'settled']);
    // The twelfth was ready all the time.
    await eventually('the short lease ends', async () => (await other.counts(queue, CALL)).ready.value === 2);
    expect(await complete(backend, [short])).toEqual(['lease-lost']);
    const rest = leases.slice(1);
    expect((await backend.renew(rest, 60_000, CALL)).map(({ status }) => status)).toEqual(
      rest.map(() => 'renewed'),
    );
    // Only the one that ended, and the twelfth, are there for others.
    expect(await claimAll(other, queue, 2)).toHaveLength(2);
    expect(await claim(other, queue)).toEqual([]);
    // In any order, grouped or not.
    expect(
      await complete(
        backend,
        [rest[3], rest[0], rest[1]].flatMap((lease) => lease ?? []),
      ),
    ).toEqual(['settled', 'settled', 'settled']);
    expect(await complete(backend, rest.toSpliced(3, 1).slice(2))).toEqual(
      Array.from({ length: 6 }, () => 'settled'),
    );
    expect(await claim(other, queue)).toEqual([]);
  });

  it('after a reconnect is refused here: a tag of the old channel never reaches the new one (B033)', async () => {
    await using backend = await opened({ url: server.url });
    const queue = freshQueue();
    await accept(backend, [newJob(queue), newJob(queue)]);
    const old = await claimAll(backend, queue, 2);
    await server.closeConnections();
    const again = await eventually('both are back', async () => {
      const leases = await claim(backend, queue, { max: 2, waitMs: 500 }).catch(() => []);
      return leases.length === 2 ? leases : null;
    });
    expect(await complete(backend, old)).toEqual(['lease-lost', 'lease-lost']);
    expect(again?.every(({ attempt }) => attempt === 2)).toBe(true);
    expect(await complete(backend, again ?? [])).toEqual(['settled', 'settled']);
  });
});

describe('the time limit of the broker', () => {
  it('ends one lease and its channel; the worker goes on, other queues are unharmed (B017)', async () => {
    await using backend = await opened({ url: server.url });
    const [slow, other] = [freshQueue(), freshQueue()];
    await accept(backend, [newJob(slow), newJob(slow), newJob(other)]);
    const [neighbour] = await claimAll(backend, other, 1);
    if (neighbour === undefined) throw new Error('no lease');
    // Held by a consumer that stays open, and looked at every two seconds.
    await server.control('eval', 'application:set_env(rabbit, consumer_timeout, 3000).');
    try {
      await using late = await opened({ url: server.url });
      const [held] = await claim(late, slow, { waitMs: 2000 });
      if (held === undefined) throw new Error('no lease');
      await eventually(
        'the lease is lost',
        async () => (await late.renew([held], 60_000, CALL))[0]?.status === 'lease-lost',
        30_000,
      );
      expect(await complete(late, [held])).toEqual(['lease-lost']);
      const next = await claimAll(late, slow, 2);
      expect(await complete(late, next)).toEqual(['settled', 'settled']);
    } finally {
      await server.control('eval', 'application:set_env(rabbit, consumer_timeout, 1800000).');
    }
    expect(await complete(backend, [neighbour])).toEqual(['settled']);
  });
});
