import type { Notice } from '@surety/core/contract';
import { describe, expect, test } from 'vitest';
import { assemble } from '../src/backend.ts';
import { resolveOptions } from '../src/options.ts';
import { type ClockMark, readClock } from '../src/store-clock.ts';
import { CALL, claim, claimOne, completed, freshFile, newJob, opened, put, QUEUE, settle } from './asking.ts';

const HOUR = 3_600_000;
const T0 = 1_700_000_000_000;

describe('reading the clock', () => {
  test('shows the machine clock as long as that goes forward', () => {
    const reading = readClock({ high: T0, shift: 0 }, T0 + 5);
    expect(reading).toEqual({ now: T0 + 5, high: T0 + 5, shift: 0, steppedBackMs: 0 });
  });

  test('stands still over a small disagreement of processes', () => {
    const reading = readClock({ high: T0, shift: 0 }, T0 - 40);
    expect(reading).toMatchObject({ now: T0, shift: 0, steppedBackMs: 0 });
  });

  test('goes on at once after a step back, and pays it back within ten times its length', () => {
    let mark: ClockMark = readClock({ high: T0, shift: 0 }, T0 - HOUR);
    expect(mark).toMatchObject({ now: T0, shift: HOUR, steppedBackMs: HOUR });
    const later = readClock(mark, T0 - HOUR + 10_000);
    expect(later.now - T0).toBe(9000);
    mark = readClock(mark, T0 - HOUR + 10 * HOUR);
    expect(mark).toMatchObject({ now: T0 + 9 * HOUR, shift: 0 });
  });

  test('shows the same time whether it is read often or seldom', () => {
    const start = readClock({ high: T0, shift: 0 }, T0 - HOUR);
    let often: ClockMark = start;
    for (let passed = 0.25; passed <= 1000; passed += 0.25) often = readClock(often, T0 - HOUR + passed);
    const seldom = readClock(start, T0 - HOUR + 1000);
    expect(often.high).toBeCloseTo(seldom.high, 0);
    expect(often.shift).toBeCloseTo(seldom.shift, 0);
  });

  test('never goes back, whatever the machine clock does', () => {
    let mark: ClockMark = { high: T0, shift: 0 };
    let machine = T0;
    let before = T0;
    for (let step = 0; step < 2000; step += 1) {
      machine += [1, 7, -3, 40, -90, 5 * HOUR, -4 * HOUR, 1000, -101][(step * 7) % 9] ?? 0;
      const reading = readClock(mark, machine);
      expect(reading.now).toBeGreaterThanOrEqual(before);
      before = reading.now;
      mark = reading;
    }
  });
});

/** Two backends of one file on a clock that the test sets: two processes of one machine. */
async function onClock(): Promise<{
  readonly clock: { now: number };
  readonly notices: Notice[];
  readonly one: ReturnType<typeof assemble>;
  readonly other: ReturnType<typeof assemble>;
}> {
  const clock = { now: T0 };
  const notices: Notice[] = [];
  const options = resolveOptions(freshFile());
  const one = await opened(assemble(options, () => clock.now));
  const other = await opened(assemble(options, () => clock.now));
  await one.open({ ...CALL, notify: (notice) => notices.push(notice) });
  return { clock, notices, one, other };
}

describe('B097: the machine clock is set back while jobs are leased and scheduled', () => {
  test('a lease ends after its length, in every process, and a delay is over after its own', async () => {
    const { clock, notices, one, other } = await onClock();
    await put(one, newJob(), newJob({ delayMs: 20_000 }));
    const lease = await claimOne(one, { leaseMs: 10_000 });
    clock.now -= HOUR;
    await put(one, newJob({ queue: 'elsewhere' }));
    expect(notices).toEqual([expect.objectContaining({ kind: 'warning', code: 'clock-set-back' })]);
    clock.now += 9000;
    expect((await claim(other)).leases).toEqual([]);
    clock.now += 3000;
    const again = await claimOne(other);
    expect(again).toMatchObject({ id: lease.id, attempt: 2, lostClaims: 1 });
    expect(await settle(one, completed(lease))).toEqual(['lease-lost']);
    expect((await claim(other)).leases).toEqual([]);
    clock.now += 11_000;
    expect((await claim(other)).leases).toHaveLength(1);
  });

  test('a jump years ahead that is taken back freezes nothing', async () => {
    const { clock, one, other } = await onClock();
    const years = 70 * 365 * 24 * HOUR;
    clock.now += years;
    await put(one, newJob());
    const lease = await claimOne(one, { leaseMs: 10_000 });
    clock.now -= years;
    await put(other, newJob({ delayMs: 5000 }));
    clock.now += 6000;
    expect((await claim(other)).leases).toHaveLength(1);
    clock.now += 6000;
    expect((await claimOne(other)).id).toBe(lease.id);
  });

  test('renewals count from now on the clock that goes on', async () => {
    const { clock, one, other } = await onClock();
    await put(one, newJob());
    const lease = await claimOne(one, { leaseMs: 10_000 });
    clock.now -= HOUR;
    expect(await one.renew([lease], 10_000, CALL)).toEqual([{ status: 'renewed', leaseMs: 10_000 }]);
    clock.now += 9000;
    expect(await one.renew([lease], 10_000, CALL)).toEqual([{ status: 'renewed', leaseMs: 10_000 }]);
    clock.now += 9000;
    expect((await claim(other)).leases).toEqual([]);
    expect(await settle(one, completed(lease))).toEqual(['settled']);
  });

  test('figures stay sane: no negative age', async () => {
    const { clock, one } = await onClock();
    await put(one, newJob());
    clock.now -= 30;
    expect((await one.counts(QUEUE, CALL)).oldestReadyAgeMs.value).toBe(0);
    clock.now -= HOUR;
    expect((await one.counts(QUEUE, CALL)).oldestReadyAgeMs.value).toBe(0);
  });
});

test('B058: a delay of a year is over after a year, and a timer that long does not fire at once', async () => {
  const { clock, one, other } = await onClock();
  const year = 366 * 24 * HOUR;
  await put(one, newJob({ delayMs: year }), newJob({ delayMs: 25 * 24 * HOUR }));
  const waiting = claim(one, { waitMs: 400 });
  expect((await waiting).leases).toEqual([]);
  clock.now += 25 * 24 * HOUR;
  expect(await settle(other, completed(await claimOne(other)))).toEqual(['settled']);
  clock.now += year - 25 * 24 * HOUR - 1;
  expect((await claim(other)).leases).toEqual([]);
  clock.now += 1;
  expect((await claim(other)).leases).toMatchObject([{ waitedMs: 0 }]);
});
