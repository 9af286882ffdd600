import { describe, expect, test } from 'vitest';
import { createRealClock } from '../src/clock/real-clock.ts';
import { createVirtualClock } from '../src/clock/virtual-clock.ts';

describe('virtual clock', () => {
  test('fires timers in order, each at its own instant', async () => {
    const clock = createVirtualClock(1000);
    const seen: [string, number][] = [];
    clock.setTimer(() => seen.push(['late', clock.now()]), 30);
    clock.setTimer(() => seen.push(['early', clock.now()]), 10);
    clock.setTimer(() => seen.push(['same instant', clock.now()]), 10);
    clock.setTimer(() => seen.push(['never', clock.now()]), 31);
    await clock.advance(30);
    expect(seen).toEqual([
      ['early', 1010],
      ['same instant', 1010],
      ['late', 1030],
    ]);
    expect(clock.now()).toBe(1030);
  });

  test('promises run between two timers, and what they set still fires in the same advance', async () => {
    const clock = createVirtualClock(0);
    const seen: string[] = [];
    clock.setTimer(() => {
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => {
          seen.push(`after the first, at ${clock.now()}`);
          clock.setTimer(() => seen.push(`set on the way, at ${clock.now()}`), 5);
        });
    }, 10);
    clock.setTimer(() => seen.push(`second, at ${clock.now()}`), 20);
    await clock.advance(100);
    expect(seen).toEqual(['after the first, at 10', 'set on the way, at 15', 'second, at 20']);
  });

  test('a cleared timer does not fire; clearing twice does nothing', async () => {
    const clock = createVirtualClock(0);
    let fired = 0;
    const timer = clock.setTimer(() => (fired += 1), 5);
    clock.clearTimer(timer);
    clock.clearTimer(timer);
    await clock.advance(10);
    expect(fired).toBe(0);
  });

  test('advances at the same time follow one another; a timer that throws ends only its own', async () => {
    const clock = createVirtualClock(0);
    clock.setTimer(() => {
      throw new Error('broken timer');
    }, 5);
    const first = clock.advance(10);
    const second = clock.advance(10);
    await expect(first).rejects.toThrow('broken timer');
    await second;
    expect(clock.now()).toBe(15);
  });

  test('does not go back', async () => {
    await expect(createVirtualClock().advance(-1)).rejects.toThrow('cannot advance');
    await expect(createVirtualClock().advance(Number.NaN)).rejects.toThrow('cannot advance');
  });
});

describe('real clock', () => {
  test('a timer never fires early', async () => {
    const clock = createRealClock();
    const from = clock.now();
    await new Promise<void>((resolve) => {
      clock.setTimer(resolve, 12.7);
    });
    expect(clock.now() - from).toBeGreaterThanOrEqual(12.7);
  });

  test('a timer longer than setTimeout can take does not fire at once', async () => {
    const clock = createRealClock();
    let fired = false;
    const year = clock.setTimer(() => {
      fired = true;
    }, 366 * 86_400_000);
    await new Promise<void>((resolve) => {
      clock.setTimer(resolve, 20);
    });
    clock.clearTimer(year);
    expect(fired).toBe(false);
  });

  test('says about the time of day', () => {
    expect(Math.abs(createRealClock().now() - Date.now())).toBeLessThan(60_000);
  });
});
