import { MAX_DELAY_MS } from '@surety/core/contract';
import { describe, expect, it } from 'vitest';
import { LEVELS, levelFor, STEP_MS, stayUntil, waitOf } from '../src/ladder.ts';

const NOW = 1_800_000_000_000;

describe('the ladder of delays', () => {
  it('is gone down level by level, and left when the job is due, never before', () => {
    const delays = [1, 63, 64, 65, 1000, 3_600_000, 3_600_001, 86_400_000, 30 * 86_400_000, MAX_DELAY_MS];
    for (let n = 0; n < 200; n++) delays.push(Math.ceil(Math.random() * MAX_DELAY_MS));
    for (const delayMs of delays) {
      const dueAt = NOW + delayMs;
      let now = NOW;
      let before = LEVELS;
      for (let stay = stayUntil(dueAt, now); stay !== null; stay = stayUntil(dueAt, now)) {
        expect(stay.level).toBeLessThan(before);
        expect(stay.leavesAt).toBeLessThanOrEqual(dueAt);
        before = stay.level;
        now = stay.leavesAt;
      }
      expect(now).toBe(dueAt);
    }
  });

  it('keeps the order of a level: all that stands in one waits for the same time', () => {
    for (let n = 0; n < 200; n++) {
      const stay = stayUntil(NOW + STEP_MS * 2 + Math.random() * MAX_DELAY_MS, NOW);
      if (stay === null) throw new Error('no stay');
      expect(stay.leavesAt - NOW).toBe(waitOf(stay.level));
    }
  });

  it('is not entered without a delay', () => {
    for (const delayMs of [0, -1, Number.NaN]) expect(levelFor(delayMs)).toBeNull();
    expect(levelFor(0.5)).toBe(0);
    expect(levelFor(MAX_DELAY_MS)).toBeLessThan(LEVELS);
  });
});
