import type { DeadLetter, HistoryEntry, JobError, JobView } from '@surety/core/contract';
import { type Counters, readBody, readCounters } from './job-body.ts';

/** What the scripts tell of a job that is to be shown. */
export interface Shown {
  readonly id: string;
  readonly queue: string;
  readonly state: JobView['state'];
  readonly body: string;
  readonly counters: string;
  readonly errors: string;
  /** By the store's clock, in ms. */
  readonly now: number;
  /** When it is or was due; null: it does not wait. */
  readonly dueAt: number | null;
  /** Its claim has ended and nobody has taken it back yet: the loss counts already. */
  readonly isLost: boolean;
}

export function toView(shown: Shown): JobView {
  const { id, queue, state, now, dueAt } = shown;
  const { head, payload } = readBody(shown.body);
  const [created, priority, , type, maxAttempts, key, headers, dedupeKey] = head;
  const counters: Counters = readCounters(shown.counters);
  const history = readHistory(shown.errors);
  const lost = shown.isLost ? 1 : 0;
  const held = state === 'leased' ? 1 : lost;
  return {
    id,
    queue,
    type,
    headers: headers === 0 ? {} : headers,
    idempotencyKey: key === 0 ? id : key,
    maxAttempts: maxAttempts === 0 ? null : maxAttempts,
    attempt: counters[0] + lost,
    deliveries: counters[1] + held,
    lostClaims: counters[2] + lost,
    interruptions: counters[3],
    redrives: counters[4],
    state,
    priority,
    payload,
    dueInMs: dueAt === null ? null : dueAt - now,
    ageMs: Math.max(0, now - created),
    dedupeKey: dedupeKey === 0 ? null : dedupeKey,
    lastError: history.at(-1)?.error ?? null,
    history,
  };
}

/** The reason is the code of the error that buried the job. */
export function toDeadLetter(shown: Omit<Shown, 'state' | 'dueAt' | 'isLost'>, diedAt: number): DeadLetter {
  const view = toView({ ...shown, state: 'dead', dueAt: null, isLost: false });
  return {
    ...view,
    state: 'dead',
    deadAt: new Date(diedAt).toISOString(),
    reason: view.lastError?.code ?? 'INTERNAL',
  };
}

/** One entry a line, oldest first. */
function readHistory(lines: string): HistoryEntry[] {
  if (lines === '') return [];
  return lines.split('\n').map((line) => {
    const { at, error } = JSON.parse(line) as { readonly at: number; readonly error: JobError };
    return { at: new Date(at).toISOString(), error };
  });
}
