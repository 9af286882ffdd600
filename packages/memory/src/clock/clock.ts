/** A timer of a {@link Clock}; only that clock can clear it. */
export interface ClockTimer {
  /** The instant it fires, by its clock. */
  readonly at: number;
}

/** The clock of a store: what it says decides what is due and what has ended. Instants in ms since the Unix epoch. */
export interface Clock {
  now(): number;
  /** Calls `run` once, `afterMs` from now. Any length; a timer never fires early. */
  setTimer(run: () => void, afterMs: number): ClockTimer;
  /** Clearing twice, or after it fired, does nothing. */
  clearTimer(timer: ClockTimer): void;
}
