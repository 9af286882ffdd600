import type { Settlement } from '@surety/core/contract';
import { createMemoryStore, createVirtualClock, memory, type WeakFaultRates } from '@surety/memory';
import { describe, expect, test } from 'vitest';
import { CALL, jobError, newJob, opened, put, request, take } from './asking.ts';

const SOUND: WeakFaultRates = { duplicate: 0, emptyClaim: 0, unknownSettle: 0 };

function world(faults: Partial<WeakFaultRates> = {}, seed = 1) {
  const clock = createVirtualClock(0);
  const store = createMemoryStore({ clock });
  const connect = () => opened(memory({ profile: 'weak', store, seed, faults: { ...SOUND, ...faults } }));
  return { clock, store, connect };
}

describe('moves by copy', () => {
  const moves: readonly ((lease: Settlement['lease']) => Settlement)[] = [
    (lease) => ({ kind: 'retry', lease, delayMs: 0, error: jobError() }),
    (lease) => ({ kind: 'release', lease, delayMs: 0, reason: 'unstarted' }),
    (lease) => ({ kind: 'bury', lease, error: jobError() }),
  ];

  test.each(moves)(
    'a crash between copy and settle leaves two copies, never none, and a line in the log (%#)',
    async (settlementOf) => {
      const { clock, store, connect } = world();
      const backend = await connect();
      const id = await put(backend);
      const lease = await take(backend, { leaseMs: 1000 });
      const settlement = settlementOf(lease);
      if (settlement.kind === 'complete') throw new Error('Not a move.');
      store.faults.crashBetween(settlement.kind);
      expect(await backend.settle([settlement], CALL)).toMatchObject([{ status: 'unknown' }]);
      expect(store.copiesOf('q', id)).toBe(2);
      expect(store.faults.log).toMatchObject([
        { kind: 'crash-between', jobId: id, operation: settlement.kind },
      ]);
      // The original is held until its lease ends, then it comes again, charged.
      await clock.advance(1000);
      const { leases } = await backend.claim(request());
      const again = leases.find(({ lostClaims }) => lostClaims === 1);
      expect(again).toMatchObject({ id, attempt: 2 });
      expect(leases).toHaveLength(settlement.kind === 'bury' ? 1 : 2);
    },
  );

  test('without a fault there is one copy after every move', async () => {
    const { store, connect } = world();
    const backend = await connect();
    const id = await put(backend);
    for (const settlementOf of moves) {
      expect(await backend.settle([settlementOf(await take(backend))], CALL)).toEqual([
        { status: 'settled' },
      ]);
      expect(store.copiesOf('q', id)).toBe(1);
    }
    expect(await backend.deadLetters.redrive('q', { ids: [id] }, CALL)).toEqual([{ status: 'redriven', id }]);
    expect(store.copiesOf('q', id)).toBe(1);
    expect(store.faults.log).toEqual([]);
  });

  test('a redrive that stops half-way leaves the dead letter and a ready copy', async () => {
    const { store, connect } = world();
    const backend = await connect();
    const id = await put(backend);
    await backend.settle([{ kind: 'bury', lease: await take(backend), error: jobError() }], CALL);
    store.faults.crashBetween('redrive');
    await expect(backend.deadLetters.redrive('q', { ids: [id] }, CALL)).rejects.toMatchObject({
      retryable: 'unknown',
    });
    expect((await backend.deadLetters.show('q', id, CALL))?.id).toBe(id);
    expect((await take(backend)).id).toBe(id);
    expect(store.faults.log).toMatchObject([{ kind: 'crash-between', jobId: id, operation: 'redrive' }]);
  });

  test('two copies of one id have leases of their own, also in one claim', async () => {
    const { store, connect } = world();
    const backend = await connect();
    const id = await put(backend);
    store.faults.duplicate('q', id);
    const { leases } = await backend.claim(request());
    expect(leases.map((lease) => lease.id)).toEqual([id, id]);
    const settlements = leases.map((lease) => ({ kind: 'complete', lease, outcome: 'completed' }) as const);
    const [first, second] = settlements;
    if (first === undefined || second === undefined) throw new Error('Two were due.');
    expect(await backend.settle([first, first, second], CALL)).toEqual([
      { status: 'settled' },
      { status: 'lease-lost' },
      { status: 'settled' },
    ]);
    expect(store.copiesOf('q', id)).toBe(0);
  });
});

describe('seeded faults', () => {
  async function run(seed: number) {
    const { clock, store, connect } = world({ duplicate: 0.2, emptyClaim: 0.2, unknownSettle: 0.2 }, seed);
    const backend = await connect();
    const ids = new Map<string, number>();
    for (let count = 0; count < 50; count += 1) ids.set(await put(backend), 1);
    const completed = new Map<string, number>();
    for (let quiet = 0; quiet < 20; ) {
      const { leases } = await backend.claim(request({ leaseMs: 200 }));
      quiet = leases.length === 0 ? quiet + 1 : 0;
      for (const lease of leases) {
        const [outcome] = await backend.settle([{ kind: 'complete', lease, outcome: 'completed' }], CALL);
        if (outcome?.status === 'settled') completed.set(lease.id, (completed.get(lease.id) ?? 0) + 1);
      }
      await clock.advance(50);
    }
    return { store, ids, completed, log: store.faults.log.map(({ kind, acted }) => `${kind} ${acted}`) };
  }

  test('every extra copy is in the log, and no job is lost', async () => {
    const { store, ids, completed } = await run(7);
    const { log } = store.faults;
    for (const id of ids.keys()) {
      const extra = log.filter((record) => record.kind === 'broker-duplicate' && record.jobId === id);
      const unknown = log.filter(
        (record) => record.kind === 'unknown-settle' && record.jobId === id && record.acted,
      );
      // Each copy ends once: by a settlement that was told, or by one whose answer was lost.
      expect((completed.get(id) ?? 0) + unknown.length).toBe(1 + extra.length);
      expect(store.copiesOf('q', id)).toBe(0);
    }
    for (const kind of ['broker-duplicate', 'empty-claim', 'unknown-settle'] as const) {
      expect(log.some((record) => record.kind === kind)).toBe(true);
    }
  });

  test('the same seed gives the same faults, another seed others', async () => {
    const [one, same, other] = [await run(3), await run(3), await run(4)];
    expect(one.log).toEqual(same.log);
    expect(one.log).not.toEqual(other.log);
  });
});

test('the second settlement of a lease in a call is lost, also when the answer to the first was (G2.8)', async () => {
  const { connect } = world({ unknownSettle: 1 });
  const backend = await connect();
  for (let round = 0; round < 20; round += 1) {
    await put(backend);
    const lease = await take(backend);
    const complete = { kind: 'complete', lease, outcome: 'completed' } as const;
    const outcomes = await backend.settle([complete, complete], CALL);
    expect(outcomes.map(({ status }) => status)).toEqual(['unknown', 'lease-lost']);
  }
});

describe('what a broker does not give', () => {
  test('time is coarse and never early', async () => {
    const { clock, connect } = world();
    const backend = await connect();
    await clock.advance(13);
    await put(backend, { delayMs: 60 });
    await clock.advance(60);
    expect((await backend.claim(request())).leases).toEqual([]);
    await clock.advance(27);
    const lease = await take(backend, { leaseMs: 210 });
    expect(lease.waitedMs).toBe(0);
    await clock.advance(210);
    // Its holder has lost it at its end; the job itself is back at the next tick of the coarse clock.
    expect(await backend.renew([lease], 210, CALL)).toEqual([{ status: 'lease-lost' }]);
    expect((await backend.claim(request())).leases).toEqual([]);
    await clock.advance(40);
    expect(await take(backend)).toMatchObject({ id: lease.id, waitedMs: 40 });
  });

  test('leases end with their connection, charged', async () => {
    const { store, connect } = world();
    const [holder, other] = [await connect(), await connect()];
    const id = await put(holder);
    const lease = await take(holder);
    store.faults.cutConnection(holder);
    expect(await holder.renew([lease], 1000, CALL)).toEqual([{ status: 'lease-lost' }]);
    expect(await take(other)).toMatchObject({ id, attempt: 2, lostClaims: 1 });
    await other.close({ graceMs: 100 });
    expect(await take(holder)).toMatchObject({ id, attempt: 3, lostClaims: 2 });
  });

  test('figures and the pauses of others are late', async () => {
    const { clock, connect } = world();
    const [one, other] = [await connect(), await connect()];
    const ready = async (): Promise<number | null> => (await one.counts('q', CALL)).ready.value;
    expect(await ready()).toBe(0);
    await put(one);
    expect(await ready()).toBe(0);
    await clock.advance(100);
    expect(await ready()).toBe(1);
    expect((await one.counts('q', CALL)).oldestReadyAgeMs).toEqual({ value: null, kind: 'none' });

    await one.pacing.pause('q', CALL);
    expect((await one.claim(request())).paused).toBe(true);
    expect((await other.claim(request())).leases).toHaveLength(1);
    await clock.advance(one.capabilities.pacing.boundMs);
    expect((await other.claim(request())).paused).toBe(true);
  });

  test('ids are not remembered, except within a batch; the second copy is in the log', async () => {
    const { store, connect } = world();
    const backend = await connect();
    const job = newJob();
    const batch = await backend.enqueue([job, job], CALL);
    expect(batch.map(({ status }) => status)).toEqual(['accepted', 'duplicate']);
    expect((await backend.enqueue([job], CALL))[0]?.status).toBe('accepted');
    expect(store.copiesOf('q', job.id)).toBe(2);
    expect(store.faults.log).toMatchObject([{ kind: 'id-stored-again', jobId: job.id }]);
  });

  test('what is not offered is refused, item by item', async () => {
    const { connect } = world();
    const backend = await connect();
    const jobs = [
      newJob({ priority: 2 }),
      newJob({ maxDepth: 5 }),
      newJob({ dedupe: { key: 'k', windowMs: 5 } }),
      newJob({ payload: JSON.stringify('x'.repeat(300_000)) }),
      newJob(),
    ];
    const outcomes = await backend.enqueue(jobs, CALL);
    const told = outcomes.map((outcome) => ('error' in outcome ? outcome.error.code : outcome.status));
    const missing = 'CAPABILITY_MISSING';
    expect(told).toEqual([missing, missing, missing, 'PAYLOAD_TOO_LARGE', 'accepted']);
    for (const facet of ['settleAndClaim', 'lookup', 'dedupe', 'transactional'] as const) {
      expect(facet in backend).toBe(false);
    }
  });

  test('a discarded dead letter is gone with all its copies', async () => {
    const { store, connect } = world();
    const backend = await connect();
    const id = await put(backend);
    store.faults.duplicate('q', id);
    for (let copy = 0; copy < 2; copy += 1) {
      await backend.settle([{ kind: 'bury', lease: await take(backend), error: jobError() }], CALL);
    }
    expect(await backend.deadLetters.discard('q', { ids: [id] }, CALL)).toEqual([
      { status: 'discarded', id },
    ]);
    expect(await backend.deadLetters.show('q', id, CALL)).toBeNull();
  });
});
