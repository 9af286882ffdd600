import { randomUUID } from 'node:crypto';
import type { Backend, Lease, Settlement } from '@surety/core/contract';
import { describe, expect, test } from 'vitest';
import {
  brokenInvariants,
  CALL,
  claimAll,
  claimRequest,
  completion,
  ERROR,
  freshQueue,
  newJob,
  put,
  useStore,
} from './store.ts';

const RIVALS = 8;
const store = useStore();

function rivals(): Promise<Backend[]> {
  return Promise.all(Array.from({ length: RIVALS }, () => store.open({ poolSize: 2 })));
}

describe('eight rivals on connections of their own', () => {
  test('no job is held twice, and each is settled once', async () => {
    const backends = await rivals();
    const queue = freshQueue();
    const ids = await put(backends[0] as Backend, queue, 2000);
    const settled: string[] = [];
    await Promise.all(
      backends.map(async (backend) => {
        let held: readonly Lease[] = await claimAll(backend, queue, { max: 37 });
        while (held.length > 0) {
          const answer = await backend.settleAndClaim?.(
            held.map(completion),
            claimRequest(queue, { max: 37 }),
          );
          for (const [index, outcome] of (answer?.outcomes ?? []).entries()) {
            expect(outcome.status).toBe('settled');
            settled.push(held[index]?.id ?? '');
          }
          held = answer?.claim.leases ?? [];
        }
      }),
    );
    expect(settled.toSorted()).toEqual(ids.toSorted());
    expect(await store.query('select from surety.claim where queue = $1', [queue])).toEqual([]);
  });

  test('all settle the same leases in all ways: one counts for each', async () => {
    const backends = await rivals();
    const queue = freshQueue();
    await put(backends[0] as Backend, queue, 200);
    const leases = await claimAll(backends[0] as Backend, queue, { max: 200 });
    const ways = [
      completion,
      (lease: Lease): Settlement => ({ kind: 'retry', lease, delayMs: 60_000, error: ERROR }),
      (lease: Lease): Settlement => ({ kind: 'bury', lease, error: ERROR }),
      (lease: Lease): Settlement => ({ kind: 'release', lease, delayMs: 60_000, reason: 'stop' }),
    ];
    const answers = await Promise.all(
      backends.map((backend, n) =>
        backend.settle(leases.toSorted(() => (n % 2) - 0.5).map(ways[n % 4] ?? completion), CALL),
      ),
    );
    const counted = answers.flat().filter(({ status }) => status === 'settled').length;
    expect(counted).toBe(200);
    expect(answers.flat().every(({ status }) => status !== 'unknown')).toBe(true);
    expect(await brokenInvariants(store)).toEqual([]);
  });

  test('renewing parts of one claim at once loses no lease (each part lives on)', async () => {
    const backends = await rivals();
    const queue = freshQueue();
    await put(backends[0] as Backend, queue, 80);
    const leases = await claimAll(backends[0] as Backend, queue, { max: 80 });
    for (let round = 0; round < 5; round++) {
      const parts = backends.map((_, n) => leases.filter((_lease, index) => (index + round) % RIVALS === n));
      const answers = await Promise.all(
        backends.map((backend, n) => backend.renew(parts[n] ?? [], 30_000, CALL)),
      );
      expect(answers.flat().map(({ status }) => status)).toEqual(leases.map(() => 'renewed'));
    }
    expect(await brokenInvariants(store)).toEqual([]);
    const outcomes = await (backends[1] as Backend).settle(leases.map(completion), CALL);
    expect(outcomes.every(({ status }) => status === 'settled')).toBe(true);
  });

  test('a renewed part outlives the rest of its claim', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await put(backend, queue, 4);
    const leases = await claimAll(backend, queue, { leaseMs: 1000 });
    await backend.renew(leases.slice(0, 2), 60_000, CALL);
    const again = new Set((await claimAll(backend, queue, { waitMs: 20_000 })).map(({ id }) => id));
    expect([...again].toSorted()).toEqual(
      leases
        .slice(2)
        .map(({ id }) => id)
        .toSorted(),
    );
    const outcomes = await backend.settle(leases.map(completion), CALL);
    expect(outcomes.map(({ status }) => status)).toEqual(['settled', 'settled', 'lease-lost', 'lease-lost']);
  });

  test('everything at once with leases that end all the time: nothing is lost, nothing is doubled (B010)', async () => {
    const backends = await rivals();
    const queue = freshQueue();
    const ids = await put(backends[0] as Backend, queue, 400);
    const completed = new Map<string, number>();
    const fences = new Map<string, number>();
    let left = ids.length;
    const work = async (backend: Backend, n: number): Promise<void> => {
      while (left > 0) {
        const leases = await claimAll(backend, queue, { max: 1 + (n % 5), leaseMs: 500, waitMs: 200 });
        for (const { id, token } of leases) {
          expect(token.fence, 'the fence grows').toBeGreaterThan(fences.get(id) ?? 0);
          fences.set(id, token.fence);
        }
        const dice = Math.random();
        if (dice < 0.1) await new Promise((resolve) => setTimeout(resolve, 700));
        else if (dice < 0.2) await backend.renew(leases.slice(1), 600, CALL);
        const outcomes = await backend.settle(
          leases.map((lease) => someEnd(lease)),
          CALL,
        );
        for (const [index, { status }] of outcomes.entries()) {
          const lease = leases[index] as Lease;
          if (status !== 'settled' || endOf(lease) !== 'complete') continue;
          completed.set(lease.id, (completed.get(lease.id) ?? 0) + 1);
          left -= 1;
        }
        await backend.deadLetters.redrive(queue, { type: null, limit: 10 }, CALL);
      }
    };
    await Promise.all(backends.map(work));
    expect([...completed.keys()].toSorted()).toEqual(ids.toSorted());
    expect([...completed.values()].every((times) => times === 1)).toBe(true);
    expect(await brokenInvariants(store)).toEqual([]);
  });

  test('an id stored again is another job: the late holder of the first changes nothing', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const job = newJob(queue);
    await backend.enqueue([job, newJob(queue)], CALL);
    const [first, other] = await claimAll(backend, queue);
    await backend.settle([completion(first as Lease)], CALL);
    await backend.enqueue([job], CALL);
    const [second] = await claimAll(backend, queue);
    expect(second?.id).toBe(job.id);
    expect(await backend.settle([completion(first as Lease)], CALL)).toEqual([{ status: 'lease-lost' }]);
    expect(await backend.renew([first as Lease], 1000, CALL)).toEqual([{ status: 'lease-lost' }]);
    const both = await backend.settle([completion(other as Lease), completion(second as Lease)], CALL);
    expect(both).toEqual([{ status: 'settled' }, { status: 'settled' }]);
  });

  test('one nonce twice at once: one claim, and both learn the same leases (B010)', async () => {
    const backends = await rivals();
    const queue = freshQueue();
    await put(backends[0] as Backend, queue, 50);
    const nonce = randomUUID();
    const claims = await Promise.all(backends.map((backend) => claimAll(backend, queue, { nonce, max: 5 })));
    const tokens = claims.map((leases) => leases.map(({ id, token }) => ({ id, ...token })));
    for (const told of tokens) expect(told).toEqual(tokens[0]);
    expect(tokens[0]).toHaveLength(5);
    expect((await (backends[0] as Backend).counts(queue, CALL)).leased.value).toBe(5);
  });
});

/** The same end for a lease whenever it is asked. */
function endOf({ token }: Lease): Settlement['kind'] {
  return (['complete', 'complete', 'release', 'retry', 'bury'] as const)[token.fence % 5] ?? 'complete';
}

function someEnd(lease: Lease): Settlement {
  const kind = endOf(lease);
  if (kind === 'release') return { kind, lease, delayMs: 0, reason: 'unstarted' };
  if (kind === 'retry') return { kind, lease, delayMs: lease.token.fence % 2 === 0 ? 0 : 20, error: ERROR };
  return kind === 'bury' ? { kind, lease, error: ERROR } : completion(lease);
}
