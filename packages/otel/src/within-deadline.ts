import { SuretyError } from '@surety/core/errors';

/**
 * The answer of a call that is told how long it may take, or BACKEND_TIMEOUT at `deadlineAt` (by `performance.now()`); after it nothing
 * is called at all. A late answer, or a late error, is dropped. What waits here does not keep a process alive.
 */
export async function withinDeadline<Answer>(
  call: (leftMs: number) => Promise<Answer>,
  deadlineAt: number,
  adapter: string,
  operation: string,
): Promise<Answer> {
  const leftMs = Math.floor(deadlineAt - performance.now());
  if (leftMs < 1) throw tooLate(adapter, operation);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    // A timer may fire a moment early; not before less than a ms is left, for then the next call would still be made.
    timer = setTimeout(() => reject(tooLate(adapter, operation)), leftMs + 1);
    timer.unref();
  });
  try {
    return await Promise.race([call(leftMs), late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(adapter: string, operation: string): SuretyError {
  return new SuretyError('BACKEND_TIMEOUT', 'The store did not answer in time.', { adapter, operation });
}
