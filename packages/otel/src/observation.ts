/** Something that is being observed, until it is stopped. */
export interface Observation extends AsyncDisposable {
  /** False: no meter provider was set when it began, so nothing is observed and nothing is paid. It does not become true later. */
  readonly active: boolean;
  /** Ends it; what is held of a backend is let go. Never rejects; twice is once. */
  stop(): Promise<void>;
}

export const INACTIVE: Observation = Object.freeze({
  active: false,
  stop: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

/** An observation that `end` ends. */
export function observation(end: () => Promise<void>): Observation {
  let ending: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    ending ??= end();
    return ending;
  };
  return Object.freeze({ active: true, stop, [Symbol.asyncDispose]: stop });
}
