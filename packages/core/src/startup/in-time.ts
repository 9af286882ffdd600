/** The answer of {@link inTime} for a call that did not end. */
export const LATE: unique symbol = Symbol('late');

/**
 * What an adapter may take beyond its own time limit before core stops waiting: its timers and ours share one event loop, and its
 * answer says more than ours could.
 */
export const SLACK_MS = 250;

/** Waits at most `ms` for a call of an adapter. A late answer, or a late error, is dropped. */
export async function inTime<Answer>(call: Promise<Answer>, ms: number): Promise<Answer | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), ms);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}
