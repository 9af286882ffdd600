import type { Backend, Lease } from '@surety/core/contract';
import { type SqsServer, startSqs } from '@surety/testbed';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { namesOf } from '../src/names.ts';
import { CALL, claim, claimOne, connected, newJob, visible } from './emulator.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
let server: SqsServer;
beforeAll(async () => {
  server = await startSqs({ durable: false });
});
afterAll(() => server.destroy());
afterEach(() => {
  vi.restoreAllMocks();
});

describe('the twelve hours', () => {
  test('a renewal near their end gets what is left, and after it the lease is lost (B020)', async () => {
    const backend = await connected(server);
    const { maxMs } = backend.capabilities.lease;
    await backend.enqueue([newJob('long')], CALL);
    const lease = await claimOne(backend, 'long', maxMs);
    const real = performance.now.bind(performance);
    let passedMs = 12 * HOUR_MS - 100_000;
    vi.spyOn(performance, 'now').mockImplementation(() => real() + passedMs);
    const [near] = await backend.renew([lease], 300_000, CALL);
    expect(near?.status).toBe('renewed');
    expect(near?.status === 'renewed' && near.leaseMs).toBeGreaterThan(80_000);
    expect(near?.status === 'renewed' && near.leaseMs).toBeLessThan(100_000);
    passedMs += 100_000;
    expect(await backend.renew([lease], 300_000, CALL)).toEqual([{ status: 'lease-lost' }]);
    expect(await backend.settle([{ kind: 'complete', lease, outcome: 'completed' }], CALL)).toEqual([
      { status: 'lease-lost' },
    ]);
    vi.restoreAllMocks();
    await backend.close({ graceMs: 3000 });
  });
});

describe('delays', () => {
  test('of 900 s go straight among the ready jobs, one more waits for the pump', async () => {
    const backend = await connected(server);
    await backend.enqueue([newJob('edge', { delayMs: 900_000 }), newJob('edge', { delayMs: 900_001 })], CALL);
    expect((await backend.counts('edge', CALL)).scheduled.value).toBe(2);
    await server.elapse({ all: [], delayed: [namesOf('surety', 'edge').ready] }, 900_000);
    expect(await claim(backend, 'edge', 10, 30_000, 2000)).toHaveLength(1);
    await backend.close({ graceMs: 3000 });
  });

  test('of a year outlive restarts and a paused queue, and are neither early nor late (B015, B058)', async () => {
    await using own = await startSqs();
    const { delay, ready } = namesOf('surety', 'year');
    let backend = await connected(own);
    await backend.enqueue([newJob('year', { delayMs: 365 * DAY_MS })], CALL);
    await backend.pacing.pause('year', CALL);
    const pass = (ms: number): Promise<void> =>
      own.elapse({ all: [delay], delayed: [ready], expires: true }, ms);
    const settled = async (): Promise<unknown> => [
      await visible(own, delay),
      (await backend.counts('year', CALL)).scheduled.value,
    ];
    // The emulator drops what is older than 14 days: the pump has to send it anew about every week.
    for (let step = 0; step < 91; step++) {
      expect(await claim(backend, 'year', 1, 30_000, 0)).toEqual([]);
      await pass(4 * DAY_MS);
      await expect.poll(settled, { timeout: 20_000 }).toEqual([0, 1]);
      if (step % 30 !== 10) continue;
      await backend.close({ graceMs: 3000 });
      await own.kill();
      await own.start();
      backend = await connected(own);
    }
    await backend.pacing.resume('year', CALL);
    expect((await claim(backend, 'year', 1, 30_000, 1500)).length).toBe(0);
    await pass(DAY_MS);
    const lease = await claimOne(backend, 'year');
    expect(lease).toMatchObject({ attempt: 1, lostClaims: 0 });
    await backend.settle([{ kind: 'complete', lease, outcome: 'completed' }], CALL);
    expect(await claim(backend, 'year', 1, 30_000, 1500)).toEqual([]);
    await backend.close({ graceMs: 3000 });
  }, 120_000);
});

describe('requests', () => {
  test('for 100 jobs at once are ten to send, ten to receive and ten to delete', async () => {
    const backend = await connected(server);
    await backend.enqueue([newJob('many')], CALL);
    await claimOne(backend, 'many').then((lease) =>
      backend.settle([{ kind: 'complete', lease, outcome: 'completed' }], CALL),
    );
    await server.takeRequestCounts();
    await backend.enqueue(
      Array.from({ length: 100 }, () => newJob('many')),
      CALL,
    );
    const leases = [];
    while (leases.length < 100) leases.push(...(await claim(backend, 'many', 100 - leases.length, 30_000)));
    await backend.settle(
      leases.map((lease) => ({ kind: 'complete', lease, outcome: 'completed' })),
      CALL,
    );
    const counts = await server.takeRequestCounts();
    expect(counts['SendMessageBatch']).toBe(10);
    expect(counts['DeleteMessageBatch']).toBe(10);
    // Those of the pump are among them.
    expect(counts['ReceiveMessage']).toBeLessThanOrEqual(15);
    await backend.close({ graceMs: 3000 });
  });

  test('of a settlement that claims too: none for jobs where the last answer was not full, else as many as all came back full', async () => {
    // One look of the pump, at the start, and no more.
    const backend = await connected(server, { delayCheckMs: 300_000 });
    const queue = 'both';
    const both = (lease: Lease): ReturnType<NonNullable<Backend['settleAndClaim']>> => {
      if (backend.settleAndClaim === undefined) return expect.fail('there is no such call');
      const settlements = [{ kind: 'complete', lease, outcome: 'completed' } as const];
      const nonce = lease.token.nonce;
      const request = { queue, max: 100, leaseMs: 30_000, waitMs: 0, nonce, signal: null, ...CALL };
      return backend.settleAndClaim(settlements, request);
    };
    await backend.enqueue([newJob(queue)], CALL);
    const lone = await claimOne(backend, queue);
    let receives = 0;
    const look = async (): Promise<number> => {
      receives += (await server.takeRequestCounts())['ReceiveMessage'] ?? 0;
      return receives;
    };
    await expect.poll(look).toBeGreaterThanOrEqual(2);
    receives = 0;
    expect((await both(lone)).claim.leases).toEqual([]);
    expect(await look()).toBe(0);

    await backend.enqueue(
      Array.from({ length: 60 }, () => newJob(queue)),
      CALL,
    );
    const [first] = await claim(backend, queue, 10, 30_000);
    expect(await look()).toBe(1);
    const brought: number[] = [];
    for (let lease = first; lease !== undefined && brought.length < 9; ) {
      const { leases } = (await both(lease)).claim;
      brought.push(leases.length);
      [lease] = leases;
    }
    // Two requests, then four, of which the last brings nothing; then none for what is not there.
    expect(brought).toEqual([20, 30, 0]);
    expect(await look()).toBeLessThanOrEqual(1 + 2 + 4 + 3);
    await backend.close({ graceMs: 3000 });
  });

  test('stay below the smaller limit where it is set, one job that is too large alone refused (B072)', async () => {
    const backend = await connected(server, { prefix: 'small', maxMessageBytes: 262_144 });
    const jobs = [
      ...Array.from({ length: 10 }, () => newJob('mixed', { payload: JSON.stringify('x'.repeat(100_000)) })),
      ...Array.from({ length: 37 }, () => newJob('mixed', { payload: JSON.stringify('x'.repeat(1000)) })),
      newJob('mixed', { payload: JSON.stringify('x'.repeat(262_144)) }),
    ];
    const outcomes = await backend.enqueue(jobs, CALL);
    expect(outcomes.map(({ status }) => status)).toEqual(
      jobs.map((_, index) => (index === jobs.length - 1 ? 'rejected' : 'accepted')),
    );
    expect(outcomes.at(-1)).toMatchObject({ error: { code: 'PAYLOAD_TOO_LARGE' } });
    await backend.close({ graceMs: 3000 });
  });

  test('of a batch are split by bytes too, and no neighbour of a large job fails', async () => {
    const backend = await connected(server);
    const payload = JSON.stringify('x'.repeat(300_000));
    const outcomes = await backend.enqueue(
      Array.from({ length: 8 }, () => newJob('large', { payload })),
      CALL,
    );
    expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 'accepted'));
    await backend.close({ graceMs: 3000 });
  });
});
