let skewMs = 0;
let shifted = false;

/** Shifts the wall clock of this process, as a host with a wrong clock has it. May be called again: the clock jumps. */
export function setClockSkew(ms: number): void {
  skewMs = ms;
  if (shifted || ms === 0) return;
  shifted = true;
  const Real = Date;
  class Skewed extends Real {
    constructor(...given: [] | [number | string | Date]) {
      super(given[0] ?? Real.now() + skewMs);
    }
    static override now(): number {
      return Real.now() + skewMs;
    }
  }
  globalThis.Date = Skewed as DateConstructor;
}
