import type { Notice } from '@surety/core';
import { SuretyError } from '@surety/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { holdBackend } from '../../src/startup/backend-session.ts';
import { caught } from '../producer/caught.ts';
import { gate, hang, scriptedBackend } from '../producer/scripted-backend.ts';

const quiet = (): void => undefined;

afterEach(() => vi.useRealTimers());

describe('users of one backend in a process', () => {
  test('share one open; the last one closes', async () => {
    const { backend, seen } = scriptedBackend();
    const [one, two] = [holdBackend(backend, quiet), holdBackend(backend, quiet)];
    expect(one.isOpen()).toBe(false);
    await Promise.all([one.ready(1000), two.ready(1000), one.ready(1000)]);
    await two.ready(1000);
    expect(seen).toEqual(['open']);
    expect([one.isOpen(), two.isOpen()]).toEqual([true, true]);
    expect(await one.release(100)).toBeNull();
    expect(await one.release(100)).toBeNull();
    expect(seen).toEqual(['open']);
    expect([one.isOpen(), two.isOpen()]).toEqual([false, true]);
    expect(await two.release(100)).toBeNull();
    expect(seen).toEqual(['open', 'close']);
    expect(two.isOpen()).toBe(false);
  });

  test('who has let go cannot come back', async () => {
    const { backend, seen } = scriptedBackend();
    const hold = holdBackend(backend, quiet);
    await hold.release(100);
    expect((await caught(() => hold.ready(1000))).code).toBe('BACKEND_CLOSED');
    expect(seen).toEqual(['close']);
  });

  test('who requires what only the opened server shows to be missing is refused, and nobody else', async () => {
    const scripted = scriptedBackend();
    let durability: 'fsync' | 'process-crash' = 'fsync';
    const backend = {
      ...scripted.backend,
      open: async () => {
        durability = 'process-crash';
      },
      get capabilities() {
        return { ...scripted.backend.capabilities, durability };
      },
    };
    const strict = holdBackend(backend, quiet, { durability: 'fsync' });
    const other = holdBackend(backend, quiet);
    expect((await caught(() => strict.ready(1000))).code).toBe('CAPABILITY_MISSING');
    expect(strict.isOpen()).toBe(false);
    await other.ready(1000);
    expect(other.isOpen()).toBe(true);
    expect((await caught(() => strict.ready(1000))).code).toBe('CAPABILITY_MISSING');
  });

  test('it is opened anew for the next user', async () => {
    const { backend, seen } = scriptedBackend();
    for (let round = 0; round < 2; round += 1) {
      const hold = holdBackend(backend, quiet);
      await hold.ready(1000);
      await hold.release(100);
    }
    expect(seen).toEqual(['open', 'close', 'open', 'close']);
  });

  test('a new user waits for the close that is under way', async () => {
    const closed = gate();
    const events: string[] = [];
    const { backend } = scriptedBackend({
      open: async () => void events.push('open'),
      close: async () => {
        await closed.passed;
        events.push('closed');
      },
    });
    const first = holdBackend(backend, quiet);
    await first.ready(1000);
    const releasing = first.release(60_000);
    const second = holdBackend(backend, quiet);
    expect(second.isOpen()).toBe(false);
    const ready = second.ready(60_000);
    await new Promise(setImmediate);
    expect(events).toEqual(['open']);
    closed.open();
    await Promise.all([releasing, ready]);
    expect(events).toEqual(['open', 'closed', 'open']);
    expect(second.isOpen()).toBe(true);
  });

  test('an opening that ends after its last user has gone opens nothing for the next', async () => {
    const opened = gate();
    let opens = 0;
    const { backend, seen } = scriptedBackend({
      open: () => (++opens === 1 ? opened.passed : Promise.resolve()),
    });
    const first = holdBackend(backend, quiet);
    const ready = first.ready(60_000);
    await vi.waitFor(() => expect(seen).toEqual(['open']));
    const releasing = first.release(60_000);
    const second = holdBackend(backend, quiet);
    const again = second.ready(60_000);
    opened.open();
    await Promise.all([ready, releasing]);
    await again;
    expect(seen).toEqual(['open', 'close', 'open']);
    expect(second.isOpen()).toBe(true);
  });

  test('notices reach every user until it lets go', async () => {
    let notify: (notice: Notice) => void = quiet;
    const { backend } = scriptedBackend({
      open: async (options) => {
        notify = options.notify;
      },
    });
    const heard: string[] = [];
    const holds = ['a', 'b'].map((name) => holdBackend(backend, ({ kind }) => heard.push(`${name} ${kind}`)));
    await holds[0]?.ready(1000);
    notify({ kind: 'recovered', reason: 'r' });
    await holds[0]?.release(100);
    notify({ kind: 'degraded', reason: 'r', error: null });
    expect(heard).toEqual(['a recovered', 'b recovered', 'b degraded']);
    await holds[1]?.release(100);
  });
});

describe('an open that fails', () => {
  test('is told to all who wait, and tried again by the next', async () => {
    const failure = new SuretyError('SCHEMA_MISSING', 'No schema.');
    let fails = true;
    const { backend, seen } = scriptedBackend({
      open: () => (fails ? Promise.reject(failure) : Promise.resolve()),
    });
    const hold = holdBackend(backend, quiet);
    const errors = await Promise.all([1, 2].map(() => caught(() => hold.ready(1000))));
    expect(errors).toEqual([failure, failure]);
    expect(seen).toEqual(['open']);
    fails = false;
    await hold.ready(1000);
    expect(seen).toEqual(['open', 'open']);
    await hold.release(100);
  });

  test.each([
    ['rejects', (): Promise<void> => Promise.reject(new Error('EPIPE'))],
    [
      'throws at once',
      (): never => {
        throw new Error('EPIPE');
      },
    ],
  ])('without a code gets one, and may be tried again: %s', async (_what, open) => {
    const scripted = scriptedBackend();
    const hold = holdBackend({ ...scripted.backend, open }, quiet);
    const error = await caught(() => hold.ready(1000));
    expect(error).toMatchObject({
      code: 'INTERNAL',
      retryable: 'yes',
      adapter: 'scripted',
      operation: 'open',
    });
    expect((error.cause as Error).message).toBe('EPIPE');
    await hold.release(100);
  });

  test('one that hangs is bounded, for each by its own patience, and does not stand in the way of the next', async () => {
    vi.useFakeTimers();
    let hangs = true;
    const { backend, seen } = scriptedBackend({ open: () => (hangs ? hang() : Promise.resolve()) });
    const hold = holdBackend(backend, quiet);
    const patient = caught(() => hold.ready(5000));
    const hasty = caught(() => hold.ready(1000));
    await vi.advanceTimersByTimeAsync(1250);
    expect(await hasty).toMatchObject({ code: 'BACKEND_TIMEOUT', retryable: 'yes', operation: 'open' });
    await vi.advanceTimersByTimeAsync(4000);
    expect((await patient).code).toBe('BACKEND_TIMEOUT');
    expect(seen).toEqual(['open']);
    hangs = false;
    await hold.ready(1000);
    expect(seen).toEqual(['open', 'open']);
    await hold.release(100);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('one that succeeds after it was given up is open all the same', async () => {
    vi.useFakeTimers();
    const late = gate();
    const { backend, seen } = scriptedBackend({ open: () => late.passed });
    const hold = holdBackend(backend, quiet);
    const error = caught(() => hold.ready(1000));
    await vi.advanceTimersByTimeAsync(1250);
    expect((await error).code).toBe('BACKEND_TIMEOUT');
    late.open();
    await vi.advanceTimersByTimeAsync(0);
    expect(hold.isOpen()).toBe(true);
    await hold.ready(1000);
    expect(seen).toEqual(['open']);
    await hold.release(100);
  });
});

describe('a close that fails', () => {
  test.each<[string, () => Promise<void>, string]>([
    ['with an error', () => Promise.reject(new Error('EIO')), 'EIO'],
    ['with something else', () => Promise.reject('EIO' as unknown as Error), 'EIO'],
    ['by hanging', hang, 'did not close in time'],
  ])('is reported, not thrown: %s', async (_what, close, said) => {
    vi.useFakeTimers();
    const { backend } = scriptedBackend({ close });
    const hold = holdBackend(backend, quiet);
    await hold.ready(1000);
    const releasing = hold.release(500);
    await vi.advanceTimersByTimeAsync(750);
    const fault = await releasing;
    expect(fault).toBeInstanceOf(Error);
    expect(fault?.message).toContain(said);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is bounded while the open still hangs, and harms no later user', async () => {
    vi.useFakeTimers();
    let hangs = true;
    const { backend } = scriptedBackend({ open: () => (hangs ? hang() : Promise.resolve()) });
    const hold = holdBackend(backend, quiet);
    const opening = caught(() => hold.ready(60_000));
    const releasing = hold.release(500);
    await vi.advanceTimersByTimeAsync(750);
    expect((await releasing)?.message).toContain('did not close in time');
    hangs = false;
    const next = holdBackend(backend, quiet);
    await next.ready(1000);
    expect(next.isOpen()).toBe(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await opening).code).toBe('BACKEND_TIMEOUT');
    expect(next.isOpen()).toBe(true);
    await next.release(100);
  });
});
