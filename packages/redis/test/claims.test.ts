import { randomUUID } from 'node:crypto';
import type { Lease, Notice, Settlement } from '@surety/core/contract';
import { describe, expect, test } from 'vitest';
import {
  CALL,
  claim,
  completion,
  ERROR,
  eventually,
  freshQueue,
  newJob,
  put,
  request,
  statuses,
  useStore,
} from './store.ts';

describe('claims', () => {
  const store = useStore();
  const key = (queue: string, name: string): string => `${store.prefix}:{${queue}}:${name}`;

  test('hand out jobs in the order in which they were stored, and what comes back first', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const jobs = [...(await put(backend, queue, 250)), ...(await put(backend, queue, 5))];
    const leases = [];
    while (leases.length < jobs.length) leases.push(...(await claim(backend, queue, { max: 300 })));
    const [first, second, ...rest] = leases;
    if (!first || !second) throw new Error('jobs were ready');
    expect(leases.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id));
    const released = [second, first, ...rest.slice(0, 3)];
    await backend.settle(
      released.map((lease) => ({ kind: 'release', lease, delayMs: 0, reason: 'unstarted' })),
      CALL,
    );
    const [late] = await put(backend, queue);
    const again = await claim(backend, queue);
    expect(again.map(({ id }) => id)).toEqual([...released.map(({ id }) => id), late?.id]);
  });

  test('that end leave nothing behind but what the queue remembers of itself', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await put(backend, queue, 20, { dedupe: null });
    const leases = await claim(backend, queue, { max: 20 });
    await backend.settle(
      leases.map((lease, n) =>
        n % 2 === 0 ? completion(lease) : { kind: 'retry', lease, delayMs: 0, error: ERROR },
      ),
      CALL,
    );
    const retried = await claim(backend, queue, { max: 20 });
    expect(await statuses(backend, retried.map(completion))).toEqual(retried.map(() => 'settled'));
    const left = await store.client.keys(key(queue, '*'));
    expect(left.sort()).toEqual([key(queue, 'hint'), key(queue, 'state')]);
  });

  // An id stored again while a claim that once held it still lives.
  test('cannot be used for a job that was stored again under the same id', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const [job] = await put(backend, queue, 2);
    const [lease, neighbour] = await claim(backend, queue);
    if (!job || !lease || !neighbour) throw new Error('two jobs were ready');
    expect(await statuses(backend, [completion(lease)])).toEqual(['settled']);
    await backend.enqueue([job], CALL);
    expect(await statuses(backend, [completion(lease)])).toEqual(['lease-lost']);
    const [current] = await claim(backend, queue);
    expect(current?.id).toBe(job.id);
    expect(current?.token.fence).toBeGreaterThan(lease.token.fence);
    expect(await statuses(backend, [completion(lease)])).toEqual(['lease-lost']);
    const [renewed] = await backend.renew([lease], 30_000, CALL);
    expect(renewed?.status).toBe('lease-lost');
    expect(await statuses(backend, [completion(neighbour)])).toEqual(['settled']);
    if (current) expect(await statuses(backend, [completion(current)])).toEqual(['settled']);
  });

  // G8.1: the server's clock decides, also where it was set back.
  test('have fences that grow, by the time in microseconds or beyond the last of a clock that went back', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await put(backend, queue, 4);
    const fences: number[] = [];
    const take = async (): Promise<void> => {
      for (const { token } of await claim(backend, queue, { max: 1 })) fences.push(token.fence);
    };
    let [seconds, us] = [0, 0];
    // Soon after a full second: the microseconds have fewer digits then.
    await eventually(async () => {
      [seconds, us] = (await store.client.time()).map(Number) as [number, number];
      return us < 90_000;
    });
    await take();
    expect(Math.abs((fences[0] ?? 0) - (seconds * 1e6 + us))).toBeLessThan(60e6);
    await take();
    expect(fences[1]).toBeGreaterThan(fences[0] ?? 0);
    const ahead = seconds * 1e6 + 3_600_000_000;
    await store.client.hset(key(queue, 'state'), 'fence', String(ahead));
    await take();
    await take();
    expect(fences.slice(2)).toEqual([ahead + 1, ahead + 2]);
  });

  test('of which a part was renewed end in parts, each job once', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await put(backend, queue, 6, { priority: 0 });
    const nonce = randomUUID();
    const leases = await claim(backend, queue, { leaseMs: 1000, nonce });
    const renewed = leases.slice(0, 4);
    const first = await backend.renew(renewed, 60_000, CALL);
    expect(first.every(({ status }) => status === 'renewed')).toBe(true);
    // A part of the part.
    await backend.renew(renewed.slice(0, 2), 60_000, CALL);
    const [worse] = await put(backend, queue, 1, { priority: 3 });
    const back: string[] = [];
    await eventually(async () => {
      back.push(...(await claim(backend, queue, { max: 2 })).map(({ id }) => id));
      return back.length >= 2;
    });
    // The two that were not renewed, at their old level before the worse one.
    if (back[0] === worse?.id) back.shift();
    expect(new Set(back)).toEqual(new Set(leases.slice(4).map(({ id }) => id)));
    const lost = leases.slice(4).map(completion);
    expect(await statuses(backend, [...renewed.map(completion), ...lost])).toEqual([
      ...renewed.map(() => 'settled'),
      ...lost.map(() => 'lease-lost'),
    ]);
    const { ready, leased } = await backend.counts(queue, CALL);
    expect((ready.value ?? 0) + (leased.value ?? 0)).toBe(3);
  });

  test('made again without the jobs that have left meanwhile are settled as before', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const jobs = await put(backend, queue, 6);
    const nonce = randomUUID();
    const leases = await claim(backend, queue, { nonce });
    await backend.renew(leases.slice(1, 3), 60_000, CALL);
    await backend.settle(
      [leases[0], leases[2], leases[4]].map((lease) => completion(lease as Lease)),
      CALL,
    );
    const again = await claim(backend, queue, { nonce });
    expect(again.map(({ id }) => id)).toEqual([1, 3, 5].map((at) => jobs[at]?.id));
    expect(await statuses(backend, again.map(completion))).toEqual(again.map(() => 'settled'));
    const left = await store.client.keys(key(queue, '*'));
    expect(left.sort()).toEqual([key(queue, 'hint'), key(queue, 'state')]);
  });

  test('are settled in any order and in any parts, each job once, by the leases or by copies of them', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await put(backend, queue, 60);
    const leases = await claim(backend, queue, { max: 60 });
    // 7 and 60 have no common divisor, so each comes once, and none follows the one before.
    const mixed = leases.map((_, at) => leases[(at * 7) % leases.length] as Lease);
    for (let at = 0; at < mixed.length; at += 13) {
      const batch = mixed
        .slice(at, at + 13)
        .map((lease, n) => (n % 5 === 4 ? structuredClone(lease) : lease));
      const twice = [...batch, batch[0] as Lease].map(completion);
      expect(await statuses(backend, twice)).toEqual([...batch.map(() => 'settled'), 'lease-lost']);
      const { leased } = await backend.counts(queue, CALL);
      expect(leased.value).toBe(Math.max(0, 60 - at - 13));
    }
    const left = await store.client.keys(key(queue, '*'));
    expect(left.sort()).toEqual([key(queue, 'hint'), key(queue, 'state')]);
  });

  test('do not end the job of another claim that a lease names', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await put(backend, queue, 2);
    const [one] = await claim(backend, queue, { max: 1 });
    const [other] = await claim(backend, queue, { max: 1 });
    if (!one || !other) throw new Error('two jobs were ready');
    const confused: Lease = { ...one, id: other.id };
    const retry: Settlement = { kind: 'retry', lease: confused, delayMs: 0, error: ERROR };
    expect(await statuses(backend, [completion(confused)])).toEqual(['lease-lost']);
    expect(await statuses(backend, [retry])).toEqual(['lease-lost']);
    expect(await backend.renew([confused], 60_000, CALL)).toEqual([{ status: 'lease-lost' }]);
    expect(await statuses(backend, [one, other].map(completion))).toEqual(['settled', 'settled']);
  });

  test('whose leases were renewed one by one end one by one', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await put(backend, queue, 120);
    const leases = await claim(backend, queue, { max: 120 });
    const [short, ...long] = leases as [Lease, ...Lease[]];
    const renewed = await Promise.all(
      leases.map((lease) => backend.renew([lease], lease === short ? 500 : 60_000, CALL)),
    );
    expect(renewed.flat().every(({ status }) => status === 'renewed')).toBe(true);
    expect(await store.client.zcard(key(queue, 'leased'))).toBe(120);
    const back: Lease[] = [];
    await eventually(async () => back.push(...(await claim(backend, queue))) > 0);
    expect(back).toMatchObject([{ id: short.id, attempt: 2, lostClaims: 1 }]);
    const ends = [...long, short, ...back].map(completion);
    expect(await statuses(backend, ends)).toEqual([...long.map(() => 'settled'), 'lease-lost', 'settled']);
    expect(await store.client.exists(key(queue, 'leased'), key(queue, 'claims'))).toBe(0);
  });

  // B115
  test('tell of a place in line whose job is missing, and hand out the rest', async () => {
    const notices: Notice[] = [];
    const backend = await store.open({}, notices);
    const queue = freshQueue();
    const [gone, kept] = await put(backend, queue, 2);
    await store.client.hdel(key(queue, 'jobs'), gone?.id ?? '');
    const leases = await claim(backend, queue);
    expect(leases.map(({ id }) => id)).toEqual([kept?.id]);
    expect(notices).toContainEqual(expect.objectContaining({ kind: 'warning', code: 'STORE_CORRUPT' }));
    expect((await backend.counts(queue, CALL)).ready.value).toBe(0);
  });

  test('begin anew with a job whose counters somebody spoiled, and hand out the rest', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const [spoilt, kept] = await put(backend, queue, 2);
    const failed = await claim(backend, queue);
    await backend.settle(
      failed.map((lease) => ({ kind: 'retry', lease, delayMs: 0, error: ERROR })),
      CALL,
    );
    await store.client.hset(key(queue, 'meta'), spoilt?.id ?? '', '1,"');
    const attempts = new Map((await claim(backend, queue)).map(({ id, attempt }) => [id, attempt]));
    expect(attempts).toEqual(
      new Map([
        [spoilt?.id, 1],
        [kept?.id, 2],
      ]),
    );
  });

  test('say for how long a job was ready: since it was due, or came back', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await put(backend, queue);
    const [failing] = await claim(backend, queue);
    const storedAt = performance.now();
    await put(backend, queue, 1, { delayMs: 600, expiresInMs: 60_000 });
    const late: Lease[] = [];
    await eventually(async () => late.push(...(await claim(backend, queue))) > 0);
    expect(late[0]?.waitedMs).toBeLessThanOrEqual(performance.now() - storedAt - 600 + 50);
    expect(late[0]?.expiresInMs).toBeLessThanOrEqual(60_000 - 600);
    const backAt = performance.now();
    await backend.settle([{ kind: 'retry', lease: failing as Lease, delayMs: 0, error: ERROR }], CALL);
    const [back] = await claim(backend, queue);
    expect(back?.waitedMs).toBeLessThanOrEqual(performance.now() - backAt + 50);
  });

  test('of another program keys are not touched; one of another kind is told', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await put(backend, queue, 3);
    await store.client.set(key(queue, 'claims'), 'mine');
    await expect(claim(backend, queue)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    expect(await store.client.get(key(queue, 'claims'))).toBe('mine');
    await store.client.del(key(queue, 'claims'));
    expect(await claim(backend, queue)).toHaveLength(3);
  });

  test('settle what belongs to several queues in one call', async () => {
    const backend = await store.open();
    const [one, two] = [freshQueue(), freshQueue()];
    await put(backend, one, 2);
    await put(backend, two, 2);
    const [a, b] = [await claim(backend, one), await claim(backend, two)];
    const answer = await backend.settleAndClaim?.([...b, ...a].map(completion), request(one));
    expect(answer?.outcomes.map(({ status }) => status)).toEqual([
      'settled',
      'settled',
      'settled',
      'settled',
    ]);
    expect(answer?.claim.leases).toEqual([]);
  });

  test('of very many jobs in one batch are answered one by one', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const jobs = Array.from({ length: 1200 }, () => newJob(queue));
    const outcomes = await backend.enqueue([...jobs, ...jobs.slice(0, 10)], CALL);
    expect(outcomes.filter(({ status }) => status === 'accepted')).toHaveLength(1200);
    expect(outcomes.slice(1200).every(({ status }) => status === 'duplicate')).toBe(true);
    const leases = [];
    while (leases.length < 1200) leases.push(...(await claim(backend, queue, { max: 500 })));
    const settled = await statuses(backend, [...leases, ...leases.slice(0, 5)].map(completion));
    expect(settled.filter((status) => status === 'settled')).toHaveLength(1200);
    expect(settled.slice(1200)).toEqual(Array.from({ length: 5 }, () => 'lease-lost'));
  });
});

describe('records of completed jobs', () => {
  const store = useStore();

  test('are kept for their time and number, where they are asked for', async () => {
    const backend = await store.open({ keepCompletedMs: 60_000, keepCompletedMost: 3 });
    const queue = freshQueue();
    const jobs = await put(backend, queue, 5, { payload: '{"kept": 1.50}' });
    for (const lease of await claim(backend, queue)) await backend.settle([completion(lease)], CALL);
    await backend.settle([], CALL);
    const found = await Promise.all(jobs.map(async ({ id }) => backend.lookup?.find(queue, id, CALL)));
    expect(found.map((view) => view?.state ?? null)).toEqual([
      null,
      null,
      'completed',
      'completed',
      'completed',
    ]);
    expect(found[4]).toMatchObject({ payload: '{"kept": 1.50}', attempt: 1, deliveries: 1 });
  });

  test('are not kept unless they are asked for', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const [job] = await put(backend, queue);
    await backend.settle((await claim(backend, queue)).map(completion), CALL);
    expect(await backend.lookup?.find(queue, job?.id ?? '', CALL)).toBeNull();
    expect(await store.client.exists(`${store.prefix}:{${queue}}:past`)).toBe(0);
  });

  test('of jobs that were cancelled, after failures, show both', async () => {
    const backend = await store.open({ keepCompletedMs: 60_000 });
    const queue = freshQueue();
    const [job] = await put(backend, queue);
    const [first] = await claim(backend, queue);
    if (first) await backend.settle([{ kind: 'retry', lease: first, delayMs: 0, error: ERROR }], CALL);
    const [second] = await claim(backend, queue);
    if (second) await backend.settle([{ kind: 'complete', lease: second, outcome: 'cancelled' }], CALL);
    const view = await backend.lookup?.find(queue, job?.id ?? '', CALL);
    expect([view?.state, view?.attempt, view?.lastError]).toEqual(['cancelled', 2, ERROR]);
  });
});
