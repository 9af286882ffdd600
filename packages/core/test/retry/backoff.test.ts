import { backoffMs } from '@surety/core';
import { describe, expect, test } from 'vitest';
import { PauseAfterFailure } from '../../src/retry/pause-after-failure.ts';
import { seededRandom } from '../producer/seeded-random.ts';

describe('delay = min(base * 2^attempt, cap), then times 0.5 to 1.5 (G4.1)', () => {
  test.each([
    [1, 4000],
    [2, 8000],
    [10, 2_048_000],
    [11, 3_600_000],
    [8000, 3_600_000],
  ])('after attempt %i: %i ms and half of it either way', (attempt, plain) => {
    const policy = { baseMs: 2000, capMs: 3_600_000 };
    expect(backoffMs(policy, attempt, () => 0)).toBe(plain / 2);
    expect(backoffMs(policy, attempt, () => 0.5)).toBe(plain);
    expect(backoffMs(policy, attempt, () => 1 - Number.EPSILON)).toBe(plain * 1.5);
  });

  test('attempts 1 to 10,000: finite whole numbers, growing to the cap, then constant (B053)', () => {
    for (const [baseMs, capMs] of [
      [1000, 60_000],
      [1, 30 * 86_400_000],
      [0, 1000],
      [1000, 0],
      [5000, 1000],
      [30 * 86_400_000, 30 * 86_400_000],
    ] as const) {
      let before = 0;
      for (let attempt = 1; attempt <= 10_000; attempt += 1) {
        const delay = backoffMs({ baseMs, capMs }, attempt, () => 0.5);
        expect(Number.isSafeInteger(delay) && delay >= before && delay <= capMs).toBe(true);
        before = delay;
      }
      expect(before).toBe(baseMs === 0 ? 0 : capMs);
    }
  });

  test('1,000 jobs that failed together do not come back together (B052)', () => {
    const random = seededRandom(52);
    const delays = Array.from({ length: 1000 }, () => backoffMs({ baseMs: 500, capMs: 60_000 }, 1, random));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...delays)).toBeLessThanOrEqual(1500);
    const buckets = Array.from({ length: 21 }, () => 0);
    for (const delay of delays) {
      const at = Math.floor((delay - 500) / 50);
      buckets[at] = (buckets[at] ?? 0) + 1;
    }
    expect(Math.max(...buckets)).toBeLessThan(150);
    expect(Math.min(...buckets.slice(0, 20))).toBeGreaterThan(10);
  });

  test('jobs at the cap still spread, and its source is Math.random when none is given', () => {
    const capped = Array.from({ length: 1000 }, () => backoffMs({ baseMs: 1000, capMs: 60_000 }, 500));
    expect(new Set(capped).size).toBeGreaterThan(900);
    expect(Math.min(...capped)).toBeGreaterThanOrEqual(30_000);
    expect(Math.max(...capped)).toBeLessThanOrEqual(90_000);
  });
});

describe('the pause of a loop whose store fails (G9.5, B055)', () => {
  test('doubles to 5 s, starts anew after a success, and says whether there was something to recover from', () => {
    const pause = new PauseAfterFailure(() => 0.5);
    const waits = Array.from({ length: 8 }, () => pause.failed());
    expect(waits).toEqual([200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
    expect(pause.failures).toBe(8);
    expect(pause.succeeded()).toBe(true);
    expect(pause.succeeded()).toBe(false);
    expect(pause.failures).toBe(0);
    expect(pause.failed()).toBe(200);
  });

  test('spreads by a quarter either way, never zero, also after thousands of failures', () => {
    const low = new PauseAfterFailure(() => 0);
    const high = new PauseAfterFailure(() => 1 - Number.EPSILON);
    expect([low.failed(), high.failed()]).toEqual([150, 250]);
    for (let count = 0; count < 5000; count += 1) {
      expect(low.failed()).toBeGreaterThanOrEqual(150);
      expect(high.failed()).toBeLessThanOrEqual(6250);
    }
  });
});
