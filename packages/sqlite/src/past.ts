import {
  type HistoryEntry,
  type JobError,
  MAX_HISTORY,
  RELEASE_REASONS,
  type ReleaseReason,
} from '@surety/core/contract';
import type { PastColumns } from './job-row.ts';
import { readHistory } from './job-row.ts';

/** What an unhappy end of a claim leaves behind: a row of surety_past without its number and due time. */
export interface Past {
  readonly attempt: number;
  readonly deliveries: number;
  readonly lostClaims: number;
  readonly interruptions: number;
  readonly redrives: number;
  readonly lossBackedOff: boolean;
  readonly unknownTypeSince: number | null;
  /** JSON, as stored. */
  readonly history: string | null;
}

/** Past of a job as read before its claim ends. */
export interface PastRow extends PastColumns {
  readonly loss_backed_off: number | null;
  readonly unknown_type_since: number | null;
  readonly history: string | null;
}

/** After a retry or bury: charged, and the error kept. */
export function pastAfterFailure(row: PastRow, fence: number, error: JobError, now: number): Past {
  return {
    attempt: (row.attempt ?? 0) + 1,
    deliveries: fence,
    lostClaims: 0,
    interruptions: row.interruptions ?? 0,
    redrives: row.redrives ?? 0,
    lossBackedOff: false,
    unknownTypeSince: null,
    history: addToHistory(row.history, { at: new Date(now).toISOString(), error }),
  };
}

/** After a release: not charged; its reason says what else changes. */
export function pastAfterRelease(row: PastRow, fence: number, reason: ReleaseReason, now: number): Past {
  const effect = RELEASE_REASONS[reason];
  const keepsMark = effect.marksUnknownType || reason === 'unstarted';
  const since = keepsMark ? row.unknown_type_since : null;
  return {
    attempt: row.attempt ?? 0,
    deliveries: fence,
    lostClaims: row.lost_claims ?? 0,
    interruptions: (row.interruptions ?? 0) + effect.interruptions,
    redrives: row.redrives ?? 0,
    lossBackedOff: effect.marksLossBackedOff || row.loss_backed_off === 1,
    unknownTypeSince: effect.marksUnknownType ? (since ?? now) : since,
    history: row.history,
  };
}

/** The first error of a job and its last ones: how it began and where it stands (G6.7). */
function addToHistory(text: string | null, entry: HistoryEntry): string {
  const entries = [...readHistory(text), entry];
  const first = entries.slice(0, 1);
  const kept = entries.length <= MAX_HISTORY ? entries : [...first, ...entries.slice(1 - MAX_HISTORY)];
  return JSON.stringify(kept);
}
