import { randomUUID } from 'node:crypto';
import type { Backend } from '@surety/core/contract';
import { afterEach, describe, expect, test } from 'vitest';
import {
  brokenInvariants,
  CALL,
  claimAll,
  claimRequest,
  completion,
  connect,
  freshQueue,
  newJob,
  put,
  useStore,
} from './store.ts';

const store = useStore();

afterEach(async () => {
  expect(await brokenInvariants(store)).toEqual([]);
});

async function sizes(queue: string): Promise<readonly number[]> {
  const rows = await store.query<{ jobs: number }>(
    'select cardinality(ids) as jobs from surety.ticket where queue = $1 order by priority, seq',
    [queue],
  );
  return rows.map(({ jobs }) => jobs);
}

async function claimIds(backend: Backend, queue: string, max: number): Promise<readonly string[]> {
  return (await claimAll(backend, queue, { max })).map(({ id }) => id);
}

describe('a ticket of several jobs', () => {
  test('is given out in parts, in order, and what is left keeps its place', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    // In the order of their ids, as those of a client are.
    const ids = Array.from({ length: 70 }, () => randomUUID()).toSorted();
    await backend.enqueue(
      ids.map((id) => newJob(queue, { id })),
      CALL,
    );
    expect(await sizes(queue)).toEqual([32, 32, 6]);
    expect(await claimIds(backend, queue, 10)).toEqual(ids.slice(0, 10));
    expect(await sizes(queue)).toEqual([22, 32, 6]);
    expect(await claimIds(backend, queue, 22)).toEqual(ids.slice(10, 32));
    expect(await claimIds(backend, queue, 33)).toEqual(ids.slice(32, 65));
    expect((await backend.counts(queue, CALL)).ready.value).toBe(5);
    expect(await claimIds(backend, queue, 10)).toEqual(ids.slice(65));
    expect(await sizes(queue)).toEqual([]);
  });

  test('holds jobs of one queue and one level, that are ready, in the order in which they were given', async () => {
    const backend = await store.open();
    const [queue, other] = [freshQueue(), freshQueue()];
    const jobs = Array.from({ length: 60 }, (_, n) =>
      newJob(n % 3 === 0 ? other : queue, { priority: n % 2, delayMs: n % 5 === 0 ? 60_000 : 0 }),
    );
    await backend.enqueue(jobs, CALL);
    for (const name of [queue, other]) {
      const ready = jobs.filter((job) => job.queue === name && job.delayMs === 0);
      const expected = [0, 1].flatMap((level) =>
        ready.filter(({ priority }) => priority === level).map(({ id }) => id),
      );
      expect(await claimIds(backend, name, 100)).toEqual(expected);
    }
  });

  test('leaves out what was stored before', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const known = await put(backend, queue, 3);
    const ids = Array.from({ length: 40 }, (_, n) => (n % 13 === 5 ? (known[n % 3] ?? '') : randomUUID()));
    const jobs = ids.map((id) => newJob(queue, { id }));
    const outcomes = await backend.enqueue(jobs, CALL);
    expect(outcomes.filter(({ status }) => status === 'duplicate')).toHaveLength(3);
    expect(await claimIds(backend, queue, 100)).toEqual([
      ...known,
      ...ids.filter((id) => !known.includes(id)),
    ]);
  });

  test('comes back job by job, each to its place, when a claim hands it back', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const ids = await put(backend, queue, 5);
    const leases = await claimAll(backend, queue, { max: 3 });
    const [, ...back] = leases.map((lease) => ({
      kind: 'release' as const,
      lease,
      delayMs: 0,
      reason: 'unstarted' as const,
    }));
    await backend.settle(back, CALL);
    expect(await sizes(queue)).toEqual([1, 1, 2]);
    expect(await claimIds(backend, queue, 10)).toEqual(ids.slice(1));
  });
});

describe('rivals for one ticket', () => {
  test('that each ask for one job get one each: none is told that there is nothing', async () => {
    const rivals = await Promise.all(Array.from({ length: 6 }, () => store.open({ poolSize: 1 })));
    for (let round = 0; round < 25; round += 1) {
      const queue = freshQueue();
      const ids = await put(rivals[0] as Backend, queue, rivals.length);
      const got = await Promise.all(rivals.map((rival) => claimIds(rival, queue, 1)));
      expect(got.flat().toSorted()).toEqual(ids.toSorted());
    }
  });

  test('a claim that settles too waits for nobody', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await put(backend, queue, 5);
    const [lease] = await claimAll(backend, queue, { max: 1 });
    if (lease === undefined) throw new Error('nothing was claimed');
    // As a rival in the middle of its claim.
    const rival = await connect(store.url);
    await rival.query('begin');
    await rival.query('select from surety.ticket where queue = $1 for update', [queue]);
    const answer = await backend.settleAndClaim?.([completion(lease)], claimRequest(queue));
    expect(answer?.outcomes).toEqual([{ status: 'settled' }]);
    expect(answer?.claim.leases).toEqual([]);
    await rival.query('rollback');
    await rival.end();
  });
});
