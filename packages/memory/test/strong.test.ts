import { isSuretyError } from '@surety/core/errors';
import { createMemoryStore, createVirtualClock, memory } from '@surety/memory';
import { describe, expect, test } from 'vitest';
import { CALL, jobError, newJob, opened, put, request, take } from './asking.ts';

function world() {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  return { clock, store, connect: () => opened(memory({ store })) };
}

describe('leases', () => {
  test('a lease ends at its end, not before; its job is charged and ready since then (B014, G2.4, G4.3)', async () => {
    const { clock, connect } = world();
    const backend = await connect();
    await put(backend);
    const late = await take(backend, { leaseMs: 1000 });
    await clock.advance(999);
    expect(await backend.renew([late], 1000, CALL)).toEqual([{ status: 'renewed', leaseMs: 1000 }]);
    await clock.advance(1000);
    const complete = { kind: 'complete', lease: late, outcome: 'completed' } as const;
    expect(await backend.settle([complete], CALL)).toEqual([{ status: 'lease-lost' }]);
    expect(await backend.renew([late], 1000, CALL)).toEqual([{ status: 'lease-lost' }]);
    await clock.advance(7);
    const next = await take(backend);
    expect(next).toMatchObject({ id: late.id, attempt: 2, deliveries: 2, lostClaims: 1, waitedMs: 7 });
    expect(next.token.fence).toBeGreaterThan(late.token.fence);
  });

  test('a renewal may shorten a lease, and waiting claims see it (G2.3)', async () => {
    const { clock, connect } = world();
    const backend = await connect();
    const id = await put(backend);
    const lease = await take(backend, { leaseMs: 60_000 });
    const waiting = backend.claim(request({ waitMs: 30_000 }));
    await backend.renew([lease], 100, CALL);
    await clock.advance(100);
    expect((await waiting).leases.map((found) => found.id)).toEqual([id]);
  });

  test('a claim repeated with its nonce gives back what is still held, and charges nobody (G2.6)', async () => {
    const { connect } = world();
    const backend = await connect();
    for (let count = 0; count < 3; count += 1) await put(backend);
    const asked = request({ max: 2 });
    const first = await backend.claim(asked);
    const [one, two] = first.leases;
    if (one === undefined || two === undefined) throw new Error('Two leases were due.');
    await backend.settle([{ kind: 'complete', lease: one, outcome: 'completed' }], CALL);
    const again = await backend.claim(asked);
    expect(again.leases).toEqual([two]);
    await backend.settle([{ kind: 'complete', lease: two, outcome: 'completed' }], CALL);
    expect((await backend.counts('q', CALL)).ready.value).toBe(1);
  });

  test('a forged token or id holds nothing (G2.1)', async () => {
    const { connect } = world();
    const backend = await connect();
    await put(backend);
    const other = await put(backend);
    const lease = await take(backend);
    const forgeries = [
      { ...lease, token: { ...lease.token, nonce: 'x' } },
      { ...lease, token: { ...lease.token, fence: lease.token.fence + 1 } },
      { ...lease, id: other },
    ];
    for (const forged of forgeries) {
      const outcome = await backend.settle([{ kind: 'bury', lease: forged, error: jobError() }], CALL);
      expect(outcome).toEqual([{ status: 'lease-lost' }]);
    }
  });
});

describe('moves', () => {
  test('the history keeps the first error and the last four (G6.7)', async () => {
    const { connect } = world();
    const backend = await connect();
    const id = await put(backend);
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      const lease = await take(backend);
      expect(lease.attempt).toBe(attempt);
      const error = jobError({ message: `no ${attempt}`, attempt });
      await backend.settle([{ kind: 'retry', lease, delayMs: 0, error }], CALL);
    }
    const view = await backend.lookup?.find('q', id, CALL);
    expect(view?.history.map(({ error }) => error.message)).toEqual(['no 1', 'no 5', 'no 6', 'no 7', 'no 8']);
    expect(view?.lastError?.message).toBe('no 8');
  });

  test('releases change what their reason says (G4.4, G4.6, G4.7, G4.8)', async () => {
    const { clock, connect } = world();
    const backend = await connect();
    await put(backend);
    const release = async (reason: 'stop' | 'unstarted' | 'unknown-type' | 'loss-backoff' | 'snooze') => {
      const lease = await take(backend);
      await backend.settle([{ kind: 'release', lease, delayMs: 0, reason }], CALL);
      await clock.advance(10);
    };
    await release('unknown-type');
    await release('unknown-type');
    await release('unstarted');
    let lease = await take(backend);
    expect(lease).toMatchObject({ attempt: 1, unknownTypeForMs: 30, interruptions: 0, deliveries: 4 });
    await backend.settle([{ kind: 'release', lease, delayMs: 0, reason: 'stop' }], CALL);
    await release('loss-backoff');
    lease = await take(backend);
    expect(lease).toMatchObject({
      attempt: 1,
      unknownTypeForMs: null,
      interruptions: 1,
      lossBackedOff: true,
    });
    await clock.advance(1000);
    expect(await take(backend)).toMatchObject({ attempt: 2, lostClaims: 1, lossBackedOff: false });
  });

  test('a better priority goes first, equals in order of readiness (G8.4)', async () => {
    const { clock, connect } = world();
    const backend = await connect();
    const late = await put(backend, { priority: 1, delayMs: 20 });
    const early = await put(backend, { priority: 1, delayMs: 10 });
    const worst = await put(backend, { priority: 3 });
    await clock.advance(20);
    const best = await put(backend, { priority: 0 });
    const { leases } = await backend.claim(request());
    expect(leases.map(({ id }) => id)).toEqual([best, early, late, worst]);
  });

  test('figures count what is due or ended where it belongs (G5.1, G5.2)', async () => {
    const { clock, connect } = world();
    const backend = await connect();
    await put(backend, { delayMs: 100 });
    await put(backend, { delayMs: 10_000 });
    await put(backend);
    await take(backend, { leaseMs: 500 });
    const values = async (): Promise<(number | null)[]> => {
      const figures = await backend.counts('q', CALL);
      return Object.values(figures).map((figure) => figure.value);
    };
    expect(await values()).toEqual([0, 2, 1, 0, null]);
    await clock.advance(130);
    expect(await values()).toEqual([1, 1, 1, 0, 30]);
    await clock.advance(400);
    expect(await values()).toEqual([2, 1, 0, 0, 430]);
  });

  test('dead letters are paged newest first; a page stays stable while others die (G6.2)', async () => {
    const { connect } = world();
    const backend = await connect();
    const ids: string[] = [];
    const die = async (): Promise<void> => {
      ids.unshift(await put(backend));
      await backend.settle([{ kind: 'bury', lease: await take(backend), error: jobError() }], CALL);
    };
    for (let count = 0; count < 5; count += 1) await die();
    const before = [...ids];
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const ask = { queue: 'q', limit: 2, cursor, type: null };
      const page: Awaited<ReturnType<typeof backend.deadLetters.list>> = await backend.deadLetters.list(
        ask,
        CALL,
      );
      found.push(...page.entries.map(({ id }) => id));
      cursor = page.cursor;
      if (found.length === 2) await die();
    } while (cursor !== null);
    expect(found).toEqual(before);
    const bad = backend.deadLetters.list({ queue: 'q', limit: 2, cursor: 'x', type: null }, CALL);
    await expect(bad).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });
});

describe('de-duplication', () => {
  test('a key is held for its window whatever became of the job, and a redrive respects it (G3.3, G3.4)', async () => {
    const { clock, connect } = world();
    const backend = await connect();
    const first = newJob({ dedupe: { key: 'k', windowMs: 1000 } });
    await backend.enqueue([first], CALL);
    await backend.settle([{ kind: 'bury', lease: await take(backend), error: jobError() }], CALL);
    const second = newJob({ dedupe: { key: 'k', windowMs: 1000 } });
    expect(await backend.enqueue([second], CALL)).toEqual([
      { status: 'duplicate', id: second.id, of: first.id },
    ]);
    await clock.advance(1000);
    expect(await backend.dedupe?.owner('q', 'k', CALL)).toBeNull();
    expect((await backend.enqueue([second], CALL))[0]?.status).toBe('accepted');
    const conflict = { status: 'conflict', id: first.id, of: second.id };
    expect(await backend.deadLetters.redrive('q', { ids: [first.id] }, CALL)).toEqual([conflict]);
    await clock.advance(1000);
    const redriven = { status: 'redriven', id: first.id };
    expect(await backend.deadLetters.redrive('q', { type: null, limit: 9 }, CALL)).toEqual([redriven]);
  });
});

describe('waiting claims', () => {
  test('are woken by an enqueue, a due time and the end of a lease, in the order they came', async () => {
    const { clock, connect } = world();
    const [a, b, c] = [await connect(), await connect(), await connect()];
    const first = a.claim(request({ waitMs: 60_000, max: 1, leaseMs: 100 }));
    const second = b.claim(request({ waitMs: 60_000, max: 1 }));
    const now = await put(c);
    expect((await first).leases.map(({ id }) => id)).toEqual([now]);
    const third = c.claim(request({ waitMs: 60_000, max: 1 }));
    const later = await put(a, { delayMs: 50 });
    await clock.advance(50);
    expect((await second).leases.map(({ id }) => id)).toEqual([later]);
    await clock.advance(50);
    expect((await third).leases.map(({ id, lostClaims }) => [id, lostClaims])).toEqual([[now, 1]]);
  });

  test('end with their time by the clock of the store, with a signal, a pause and a close', async () => {
    const { clock, connect } = world();
    const backend = await connect();
    const timed = backend.claim(request({ waitMs: 500_000 }));
    await clock.advance(500_000);
    expect(await timed).toMatchObject({ leases: [], paused: false });

    const stop = new AbortController();
    const stopped = backend.claim(request({ waitMs: 500_000, signal: stop.signal }));
    stop.abort();
    expect((await stopped).leases).toEqual([]);

    const paused = backend.claim(request({ waitMs: 500_000 }));
    await (await connect()).pacing.pause('q', CALL);
    expect(await paused).toMatchObject({ leases: [], paused: true });

    await backend.pacing.resume('q', CALL);
    const closed = backend.claim(request({ waitMs: 500_000 }));
    await backend.close({ graceMs: 1000 });
    expect((await closed).leases).toEqual([]);
    await expect(backend.claim(request())).rejects.toSatisfy(
      (error) => isSuretyError(error) && error.code === 'BACKEND_CLOSED',
    );
  });

  test('end in real time too when a virtual clock stands still', async () => {
    const { connect } = world();
    expect((await (await connect()).claim(request({ waitMs: 20 }))).leases).toEqual([]);
  });
});

test('a hundred thousand jobs go in and out, scheduled ones included', async () => {
  const { clock, connect } = world();
  const backend = await connect();
  const total = 100_000;
  for (let sent = 0; sent < total; sent += 1000) {
    const jobs = Array.from({ length: 1000 }, (_, at) => newJob({ delayMs: at % 2 === 0 ? 0 : at }));
    await backend.enqueue(jobs, CALL);
  }
  await clock.advance(1000);
  let done = 0;
  for (;;) {
    const { leases } = await backend.claim(request({ max: 500 }));
    if (leases.length === 0) break;
    const settlements = leases.map((lease) => ({ kind: 'complete', lease, outcome: 'completed' }) as const);
    const outcomes = await backend.settle(settlements, CALL);
    done += outcomes.filter(({ status }) => status === 'settled').length;
  }
  expect(done).toBe(total);
  expect(await backend.queues(CALL)).toEqual([]);
});

test('options that are unknown or do not go together are refused', () => {
  const store = createMemoryStore();
  memory({ store });
  const wrong = [
    () => memory({ store, profile: 'weak' }),
    () => memory({ store, clock: 'real' }),
    () => memory({ faults: { duplicate: 1 } }),
    () => memory({ profile: 'weak', faults: { duplicate: 2 } }),
    () => memory({ profile: 'weak', seed: 0.5 }),
    () => memory({ colour: 'red' } as never),
  ];
  for (const make of wrong) expect(make).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
});
