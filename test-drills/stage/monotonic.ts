/** Milliseconds of the monotonic clock that all processes of one machine share, unlike `performance.now()`. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
