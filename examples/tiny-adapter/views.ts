import type { DeadLetter, JobFacts, JobView, Lease } from '@surety/core/contract';
import type { Entry } from './store.ts';

function factsOf({ job, ...entry }: Entry): JobFacts {
  const { id, queue, type, headers, idempotencyKey, maxAttempts } = job;
  const { attempt, deliveries, lostClaims, interruptions, redrives } = entry;
  return {
    id,
    queue,
    type,
    headers,
    idempotencyKey,
    maxAttempts,
    attempt,
    deliveries,
    lostClaims,
    interruptions,
    redrives,
  };
}

export function leaseOf(entry: Entry, token: Lease['token'], now: number): Lease {
  return {
    ...factsOf(entry),
    attempt: entry.attempt + 1,
    deliveries: entry.deliveries + 1,
    token,
    payload: parsed(entry.job.payload),
    lossBackedOff: entry.lossBackedOff,
    unknownTypeForMs: entry.unknownTypeSince === null ? null : now - entry.unknownTypeSince,
    waitedMs: now - entry.dueAt,
    expiresInMs: entry.expiresAt === null ? null : entry.expiresAt - now,
  };
}

export function deadLetterOf(entry: Entry, dead: NonNullable<Entry['dead']>, now: number): DeadLetter {
  const view: Omit<JobView, 'state'> = {
    ...factsOf(entry),
    priority: entry.job.priority,
    payload: entry.job.payload,
    dueInMs: null,
    ageMs: now - entry.enqueuedAt,
    dedupeKey: null,
    lastError: entry.history.at(-1)?.error ?? null,
    history: entry.history,
  };
  return { ...view, state: 'dead', deadAt: new Date(dead.at).toISOString(), reason: dead.reason };
}

function parsed(text: string): Lease['payload'] {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { unreadable: String(error) };
  }
}
