import { describe, expect, test } from 'vitest';
import { createFloor } from '../src/floor.ts';

const BOTTOM = [0, 0, 0, 0];
const taken = (
  level: number,
  from: number,
  count: number,
): { count: number; reached: Record<string, number> } => ({
  count,
  reached: { [level]: from + count - 1 },
});

describe('the floor of a queue', () => {
  test('is the bottom until a claim is worth hiding what it took', () => {
    const floor = createFloor();
    floor.learn({ probe: true, full: true, now: 0, tookMs: 1, ...taken(1, 1, 500) });
    expect(floor.next(1)).toEqual({ floors: BOTTOM, probe: true });
  });

  test('rises on its own level only, so that a better level is seen at once', () => {
    const floor = createFloor();
    for (let n = 0; n < 5; n++) {
      floor.learn({ probe: true, full: true, now: 0, tookMs: 1, ...taken(1, 1 + n * 500, 500) });
    }
    expect(floor.next(1)).toEqual({ floors: [0, 2500, 0, 0], probe: false });
  });

  test('is probed below at least every two seconds, however long a probe takes', () => {
    const floor = createFloor();
    floor.learn({ probe: true, full: true, now: 0, tookMs: 10_000, ...taken(1, 1, 5000) });
    expect(floor.next(1999).probe).toBe(false);
    expect(floor.next(2000)).toEqual({ floors: BOTTOM, probe: true });
    expect(floor.next(2001).probe, 'one probe at a time').toBe(false);
  });

  test('a probe that filled up below goes on from there', () => {
    const floor = createFloor();
    floor.learn({ probe: true, full: true, now: 0, tookMs: 1, ...taken(1, 100_000, 5000) });
    floor.learn({ probe: true, full: true, now: 300, tookMs: 1, ...taken(1, 1, 500) });
    expect(floor.next(301).floors).toEqual([0, 500, 0, 0]);
  });

  test('a short claim and a job handed back end it', () => {
    const floor = createFloor();
    const fill = (): void =>
      floor.learn({ probe: true, full: true, now: 0, tookMs: 1, ...taken(1, 1, 5000) });
    fill();
    floor.reset();
    expect(floor.next(1).probe).toBe(true);
    fill();
    expect(floor.next(2).probe).toBe(false);
    floor.learn({ probe: false, full: false, now: 3, tookMs: 1, count: 0, reached: {} });
    expect(floor.next(4)).toEqual({ floors: BOTTOM, probe: true });
  });
});
