import type { DeadLetter, HistoryEntry, JobView } from '@surety/core/contract';
import type { Row } from './connection.ts';

interface ViewRow {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  readonly priority: number;
  readonly headers: string | null;
  readonly idempotency_key: string | null;
  readonly max_attempts: number | null;
  readonly attempt: number;
  readonly deliveries: number;
  readonly lost_claims: number;
  readonly interruptions: number;
  readonly redrives: number;
  readonly payload: string;
  readonly dedupe_key: string | null;
  readonly history: readonly string[] | null;
  readonly age_ms: number;
  readonly due_in_ms: number | null;
  readonly state: JobView['state'];
  readonly dead_at?: string;
}

/** A row of `lookup` as the contract shows it. */
export function toView(row: Row): JobView {
  const job = row as unknown as ViewRow;
  const history = (job.history ?? []).map((entry) => JSON.parse(entry) as HistoryEntry);
  return {
    id: job.id,
    queue: job.queue,
    type: job.type,
    headers: job.headers === null ? {} : (JSON.parse(job.headers) as Record<string, string>),
    idempotencyKey: job.idempotency_key ?? job.id,
    maxAttempts: job.max_attempts,
    attempt: job.attempt,
    deliveries: job.deliveries,
    lostClaims: job.lost_claims,
    interruptions: job.interruptions,
    redrives: job.redrives,
    state: job.state,
    priority: job.priority,
    payload: job.payload,
    dueInMs: job.due_in_ms,
    ageMs: job.age_ms,
    dedupeKey: job.dedupe_key,
    lastError: history.at(-1)?.error ?? null,
    history,
  };
}

/** A row of the dead letters as the contract shows it. The reason is the code of the error that buried the job. */
export function toDeadLetter(row: Row): DeadLetter {
  const view = toView(row);
  const deadAt = (row as unknown as ViewRow).dead_at ?? '';
  return { ...view, state: 'dead', deadAt, reason: view.lastError?.code ?? 'INTERNAL' };
}
