/** The longest timer that Node can set. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Which call a command belongs to. */
export interface Call {
  readonly operation: string;
  /** `performance.now()` at which the call has to have ended. */
  readonly deadline: number;
}

/** What `within` resolves with when the deadline came first. */
export const LATE: unique symbol = Symbol('late');

/** The value, or `LATE` when the deadline (`performance.now()`) comes first. */
export function within<T>(promise: Promise<T>, deadline: number): Promise<T | typeof LATE> {
  return new Promise((resolve, reject) => {
    const leftMs = Math.max(0, Math.min(deadline - performance.now(), MAX_TIMER_MS));
    const timer = setTimeout(() => resolve(LATE), leftMs);
    promise.then(
      (value) => {
        resolve(value);
        clearTimeout(timer);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
