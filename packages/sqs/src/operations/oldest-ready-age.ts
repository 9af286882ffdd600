import type { Count } from '@surety/core/contract';
import type { Call } from '../call.ts';
import { namesOf } from '../names.ts';
import { RETENTION_MS } from '../service-limits.ts';
import type { Session } from '../session.ts';

/** What the counts say of the ready jobs. `createdAt`: when the queue was made, by the clock of the service. */
export interface ReadyFigures {
  readonly ready: number;
  readonly createdAt: number;
}

/**
 * The age of the oldest ready job, from the metric of the service where it is asked for, else no more than a bound. Where the metric has no value nothing
 * is known: a bound in its place would be taken for the age.
 */
export async function oldestReadyAge(
  session: Session,
  queue: string,
  figures: ReadyFigures,
  call: Call,
): Promise<Count> {
  const bound = boundOfAge(session, queue, figures);
  if (session.metrics === null) return { value: bound, kind: 'upper-bound' };
  if (bound === null) return { value: null, kind: 'approximate' };
  const { ready } = namesOf(session.options.prefix, queue);
  const age = await session.metrics.oldestAgeMs(ready, session.clock.likely(), call);
  if (age === null) return { value: null, kind: 'none' };
  return { value: Math.min(age, bound), kind: 'approximate' };
}

/**
 * The service itself tells the age of no message. What is ready now became so after this process last saw none ready, and after the queue was made; older
 * than the retention it cannot be.
 */
function boundOfAge(session: Session, queue: string, { ready, createdAt }: ReadyFigures): number | null {
  if (ready === 0) {
    session.seenEmpty.set(queue, performance.now());
    return null;
  }
  const seenEmpty = session.seenEmpty.get(queue);
  const sinceEmpty = seenEmpty === undefined ? Number.POSITIVE_INFINITY : performance.now() - seenEmpty;
  return Math.round(Math.min(RETENTION_MS, session.clock.likely() + 1000 - createdAt, sinceEmpty));
}
