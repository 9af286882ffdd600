/**
 * Settles as `work` does, or rejects after `ms` with an error that names what was waited for. The work itself goes on:
 * whoever calls must be able to abandon it.
 */
export async function withDeadline<T>(work: Promise<T>, ms: number, waitingFor: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${waitingFor()} (gave up after ${ms} ms)`)), ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
