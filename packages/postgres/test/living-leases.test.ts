import { randomUUID } from 'node:crypto';
import type { Backend, Lease, SettleOutcome } from '@surety/core/contract';
import { afterEach, describe, expect, test } from 'vitest';
import { brokenInvariants, CALL, claimAll, completion, freshQueue, put, useStore } from './store.ts';

const store = useStore();

afterEach(async () => {
  expect(await brokenInvariants(store)).toEqual([]);
});

/** Two claims of so many jobs each. */
async function twoClaims(
  backend: Backend,
  jobs: number,
): Promise<{ readonly queue: string; readonly first: readonly Lease[]; readonly second: readonly Lease[] }> {
  const queue = freshQueue();
  await put(backend, queue, 2 * jobs);
  const first = await claimAll(backend, queue, { max: jobs });
  const second = await claimAll(backend, queue, { max: jobs });
  expect([first.length, second.length]).toEqual([jobs, jobs]);
  return { queue, first, second };
}

async function complete(backend: Backend, leases: readonly Lease[]): Promise<readonly string[]> {
  const outcomes: readonly SettleOutcome[] = await backend.settle(leases.map(completion), CALL);
  return outcomes.map(({ status }) => status);
}

function forged(lease: Lease, token: Partial<Lease['token']>, rest: Partial<Lease> = {}): Lease {
  return { ...lease, ...rest, token: { ...lease.token, ...token } };
}

const settled = (count: number): string[] => Array.from({ length: count }, () => 'settled');

describe('a settlement counts for the jobs that a living claim holds', () => {
  test.each([
    ['a whole claim', 0, 6],
    ['the first jobs of a claim', 0, 2],
    ['the last jobs of a claim', 4, 6],
    ['jobs across two claims', 3, 9],
    ['two whole claims', 0, 12],
  ])('%s', async (_, from, to) => {
    const backend = await store.open();
    const { queue, first, second } = await twoClaims(backend, 6);
    const all = [...first, ...second];
    expect(await complete(backend, all.slice(from, to))).toEqual(settled(to - from));
    expect((await backend.counts(queue, CALL)).leased.value).toBe(12 - (to - from));
    expect(await complete(backend, [...all.slice(0, from), ...all.slice(to)])).toEqual(
      settled(12 - (to - from)),
    );
  });

  test('jobs here and there, in any order', async () => {
    const backend = await store.open();
    const { first, second } = await twoClaims(backend, 6);
    const some = [second[4], first[5], first[0], second[1], first[2]].filter((lease) => lease !== undefined);
    expect(await complete(backend, some)).toEqual(settled(5));
  });

  test('jobs of a claim of which a part was renewed', async () => {
    const backend = await store.open();
    const { first } = await twoClaims(backend, 6);
    await backend.renew(first.slice(2, 4), 60_000, CALL);
    expect(await complete(backend, first)).toEqual(settled(6));
  });
});

describe('and for no other', () => {
  test.each([0, 2, 5])('with the nonce of another living claim, at place %i of a run', async (place) => {
    const backend = await store.open();
    const { first, second } = await twoClaims(backend, 6);
    const nonce = second[0]?.token.nonce ?? '';
    const given = first.map((lease, at) => (at === place ? forged(lease, { nonce }) : lease));
    const expected = settled(6);
    expected[place] = 'lease-lost';
    expect(await complete(backend, given)).toEqual(expected);
    expect(await complete(backend, first.slice(place, place + 1))).toEqual(['settled']);
  });

  test('with the nonces of two claims exchanged', async () => {
    const backend = await store.open();
    const { first, second } = await twoClaims(backend, 3);
    const [one, other] = [first[0]?.token.nonce ?? '', second[0]?.token.nonce ?? ''];
    const given = [
      ...first.map((lease) => forged(lease, { nonce: other })),
      ...second.map((lease) => forged(lease, { nonce: one })),
    ];
    expect(await complete(backend, given)).toEqual(Array.from({ length: 6 }, () => 'lease-lost'));
    expect(await complete(backend, [...first, ...second])).toEqual(settled(6));
  });

  test('with the id of another job', async () => {
    const backend = await store.open();
    const { first } = await twoClaims(backend, 3);
    const given = first.map((lease, at) => (at === 1 ? forged(lease, {}, { id: randomUUID() }) : lease));
    expect(await complete(backend, given)).toEqual(['settled', 'lease-lost', 'settled']);
  });

  test('once its claim has ended, whatever stands beside it', async () => {
    const backend = await store.open();
    const { first, second } = await twoClaims(backend, 3);
    await store.query("update surety.claim set until = now() - interval '1 second' where nonce = $1", [
      first[0]?.token.nonce,
    ]);
    expect(await complete(backend, [...first, ...second])).toEqual([
      ...Array.from({ length: 3 }, () => 'lease-lost'),
      ...settled(3),
    ]);
  });

  test('a second time', async () => {
    const backend = await store.open();
    const { first } = await twoClaims(backend, 3);
    expect(await complete(backend, first.slice(0, 2))).toEqual(settled(2));
    expect(await complete(backend, first)).toEqual(['lease-lost', 'lease-lost', 'settled']);
  });
});
