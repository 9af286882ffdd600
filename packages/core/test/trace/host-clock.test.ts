import { expect, test, vi } from 'vitest';

/** A busy machine takes the core away between the reading of one clock and that of the other, most times. */
function readLate(times: number): void {
  const read = process.hrtime.bigint.bind(process.hrtime);
  let left = times;
  vi.spyOn(process.hrtime, 'bigint').mockImplementation(() => {
    const value = read();
    left -= 1;
    for (const until = performance.now() + 5; left >= 0 && performance.now() < until; );
    return value;
  });
}

/** How far it is from the clock that processes share; the least of some readings, as each can be disturbed. */
function offMs(hostTime: (at: number) => number): number {
  const readings = Array.from({ length: 50 }, () => {
    const before = performance.now();
    const shared = Number(process.hrtime.bigint()) / 1e6;
    const after = performance.now();
    return { tookMs: after - before, off: hostTime((before + after) / 2) - shared };
  });
  return readings.toSorted((a, b) => a.tookMs - b.tookMs)[0]?.off ?? Number.NaN;
}

test('the clock of the host is read right though a busy machine reads it late', async () => {
  vi.resetModules();
  readLate(15);
  const { hostTime } = await import('../../src/trace/host-clock.ts');
  vi.restoreAllMocks();
  expect(Math.abs(offMs(hostTime))).toBeLessThan(1);
});
