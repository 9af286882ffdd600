import type { Notice } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import { createMemoryStore, createVirtualClock, memory } from '@surety/memory';
import { describe, expect, test } from 'vitest';
import { CALL, newJob, opened, put, request, take } from './asking.ts';

const SHORT = { timeoutMs: 30 };

function world() {
  const store = createMemoryStore({ clock: createVirtualClock() });
  return { store, connect: () => opened(memory({ store })) };
}

describe('a store that is away', () => {
  test('refused: every call says at once that nothing was done; back: everything is there', async () => {
    const { store, connect } = world();
    const backend = await connect();
    await put(backend);
    const lease = await take(backend);
    store.faults.refuse('refused');
    const away = { code: 'BACKEND_UNAVAILABLE', retryable: 'yes' };
    await expect(backend.claim(request())).rejects.toMatchObject(away);
    await expect(backend.counts('q', CALL)).rejects.toMatchObject(away);
    await expect(opened(memory({ store }))).rejects.toMatchObject(away);
    expect(await backend.enqueue([newJob()], CALL)).toMatchObject([{ status: 'rejected', error: away }]);
    const complete = { kind: 'complete', lease, outcome: 'completed' } as const;
    expect(await backend.settle([complete], CALL)).toMatchObject([{ status: 'unknown', error: away }]);
    expect(backend.health()).toMatchObject({ ok: false, reason: 'The store cannot be reached.' });
    store.faults.refuse(null);
    expect(await backend.settle([complete], CALL)).toEqual([{ status: 'settled' }]);
    expect(backend.health()).toMatchObject({ ok: true, reason: null });
  });

  test('frozen: calls hang until their time limit, then say that the outcome is unknown (B026)', async () => {
    const { store, connect } = world();
    const backend = await connect();
    store.faults.refuse('frozen');
    const timeout = { code: 'BACKEND_TIMEOUT', retryable: 'unknown' };
    const from = performance.now();
    expect(await backend.enqueue([newJob()], SHORT)).toMatchObject([{ status: 'unknown', error: timeout }]);
    expect(performance.now() - from).toBeGreaterThanOrEqual(29);
    // The first call has broken its connection, and a new one cannot be made: now it is certain that nothing was sent.
    expect(await backend.enqueue([newJob()], SHORT)).toMatchObject([{ status: 'rejected' }]);
  });

  test('frozen: a call under way goes on when the store thaws', async () => {
    const { store, connect } = world();
    const backend = await connect();
    store.faults.refuse('frozen');
    const enqueued = backend.enqueue([newJob()], CALL);
    store.faults.refuse(null);
    expect(await enqueued).toMatchObject([{ status: 'accepted' }]);
  });

  test('close ends at once, with what hangs (B038)', async () => {
    const { store, connect } = world();
    const backend = await connect();
    store.faults.refuse('frozen');
    const hanging = backend.counts('q', { timeoutMs: 600_000 });
    await backend.close({ graceMs: 1000 });
    await expect(hanging).rejects.toMatchObject({ code: 'BACKEND_CLOSED' });
  });

  test('an aborted claim ends while the store is frozen', async () => {
    const { store, connect } = world();
    const backend = await connect();
    store.faults.refuse('frozen');
    const stop = new AbortController();
    const claimed = backend.claim(request({ timeoutMs: 600_000, signal: stop.signal }));
    stop.abort();
    expect((await claimed).leases).toEqual([]);
  });
});

describe('a bad connection', () => {
  test('cut: waiting claims fail, the next call works, notices tell of both', async () => {
    const { store } = world();
    const backend = memory({ store });
    const notices: Notice['kind'][] = [];
    await backend.open({ ...CALL, notify: (notice) => notices.push(notice.kind) });
    const waiting = backend.claim(request({ waitMs: 600_000 }));
    store.faults.cutConnection(backend);
    await expect(waiting).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    expect(notices).toEqual(['degraded']);
    await put(backend);
    expect(notices).toEqual(['degraded', 'recovered']);
    expect(store.faults.log).toMatchObject([{ kind: 'connection-cut' }]);
  });

  test('frozen: jobs are not handed to a silent line; after one time limit a new connection works', async () => {
    const { store, connect } = world();
    const [silent, other] = [await connect(), await connect()];
    store.faults.freeze(silent);
    const waiting = silent.claim(request({ ...SHORT, waitMs: 20 }));
    await put(other);
    await expect(waiting).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    expect((await silent.claim(request())).leases).toHaveLength(1);
  });

  test('answers lost: the store has acted, and repeating finds it so', async () => {
    const { store, connect } = world();
    const backend = await connect();
    const job = newJob();
    store.faults.dropAnswers(backend);
    expect(await backend.enqueue([job], SHORT)).toMatchObject([{ status: 'unknown' }]);
    expect(await backend.enqueue([job], SHORT)).toEqual([{ status: 'duplicate', id: job.id, of: job.id }]);
    store.faults.dropAnswers(backend);
    const asked = request(SHORT);
    await expect(backend.claim(asked)).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    expect((await backend.claim(asked)).leases).toMatchObject([{ id: job.id, attempt: 1 }]);
    expect(store.faults.log.map(({ kind, operation }) => `${kind} ${operation}`)).toEqual([
      'answer-lost enqueue',
      'answer-lost claim',
    ]);
  });

  test('isolated: nothing gets through until it is healed; others are not concerned', async () => {
    const { store, connect } = world();
    const [alone, other] = [await connect(), await connect()];
    store.faults.isolate(alone);
    expect(await alone.enqueue([newJob()], SHORT)).toMatchObject([{ status: 'unknown' }]);
    expect(await alone.enqueue([newJob()], SHORT)).toMatchObject([{ status: 'rejected' }]);
    await put(other);
    store.faults.heal(alone);
    expect((await alone.claim(request())).leases).toHaveLength(1);
  });

  test('slower than the time limit: unknown, and done', async () => {
    const { store, connect } = world();
    const backend = await connect();
    store.faults.delay(backend, 600_000);
    expect(await backend.enqueue([newJob()], SHORT)).toMatchObject([{ status: 'unknown' }]);
    store.faults.heal(backend);
    expect((await backend.claim(request())).leases).toHaveLength(1);
  });
});

describe('planted faults', () => {
  test('errors come in order, once each, and nothing is done', async () => {
    const { store, connect } = world();
    const backend = await connect();
    const full = new SuretyError('STORE_FULL', 'No room.');
    store.faults.failNext('enqueue', full);
    store.faults.failNext('enqueue', 'garbage');
    await expect(backend.enqueue([newJob()], CALL)).rejects.toBe(full);
    await expect(backend.enqueue([newJob()], CALL)).rejects.toBe('garbage');
    await put(backend);
    expect((await backend.counts('q', CALL)).ready.value).toBe(1);
  });

  test('a lost answer is lost at once; the store has acted', async () => {
    const { store, connect } = world();
    const backend = await connect();
    await put(backend);
    const lease = await take(backend);
    store.faults.loseAnswer('settle');
    const complete = { kind: 'complete', lease, outcome: 'completed' } as const;
    expect(await backend.settle([complete], CALL)).toMatchObject([{ status: 'unknown' }]);
    expect(await backend.settle([complete], CALL)).toEqual([{ status: 'lease-lost' }]);
  });

  test('a store whose moves are atomic cannot be told to break them', () => {
    const { store } = world();
    memory({ store });
    expect(() => store.faults.crashBetween('retry')).toThrow('atomic');
    expect(() => store.faults.duplicate('q', 'x')).toThrow('atomic');
    expect(() => store.faults.cutConnection(memory())).toThrow('does not belong');
  });
});
