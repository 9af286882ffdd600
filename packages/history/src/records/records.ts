import type { Ref } from '../reading/read-lines.ts';

/** One process that wrote lines. Times of two processes are compared only when they have one host. */
export interface Process {
  readonly id: string;
  host: string;
  /** Of its last line. */
  lastAt: number;
  /** The longest that it was silent between two lines. */
  silenceMs: number;
  /** Traces of it that were opened and not closed: at the end none, unless it died. */
  open: number;
  /** What its workers allow each type. */
  limits: Readonly<Record<string, number>>;
  readonly calls: Map<number, Pending>;
  readonly leases: Map<number, LeaseRecord>;
  /** When a claim with this nonce was first sent, until one is answered. */
  readonly nonces: Map<string, number>;
}

/** When a call was sent and answered, in ms of the host's clock. No answer: `ansRef` 0, `ansAt` infinite. */
export interface Call {
  readonly process: Process;
  readonly ref: Ref;
  readonly at: number;
  ansRef: Ref;
  ansAt: number;
}

/** One enqueue of a job. `duplicate`: of itself, so that it was stored already. */
export interface Birth extends Call {
  readonly delayMs: number;
  status: 'accepted' | 'unknown' | 'rejected';
}

export interface ClaimRecord extends Call {
  readonly queue: string;
  readonly max: number;
  readonly leaseMs: number;
  readonly nonce: string;
  /** When the leases began, at the earliest. */
  leasedAt: number;
}

export interface SettleRecord extends Call {
  readonly does: 'complete' | 'retry' | 'bury' | 'release';
  readonly delayMs: number;
  readonly code: string | null;
  outcome: 'settled' | 'lease-lost' | 'unknown';
}

/** One lease, from its claim to its end. */
export interface LeaseRecord {
  readonly job: JobRecord;
  readonly claim: ClaimRecord;
  readonly nonce: string;
  readonly fence: number;
  readonly copy: string | null;
  readonly attempt: number;
  readonly redrives: number;
  /** Null: nobody said. */
  readonly limit: number | null;
  /** The holder may count on it until here, and the store may keep it until there; infinite where a renewal has no answer. */
  endMin: number;
  endMax: number;
  startRef: Ref;
  effectRef: Ref;
  settles: SettleRecord[];
}

/** A redrive or discard of one job. */
export interface MoveRecord extends Call {
  readonly does: 'redrive' | 'discard';
  status: 'done' | 'unknown';
}

interface FoundRecord {
  readonly ref: Ref;
  readonly state: string;
  readonly reason: string | null;
  readonly hasError: boolean | null;
}

/** All that is known of one job id. */
export interface JobRecord {
  readonly id: string;
  queue: string;
  births: Birth[];
  leases: LeaseRecord[];
  moves: MoveRecord[];
  found: FoundRecord[];
  absentRef: Ref;
  /** The same token in the answers of two claims. */
  doubled: readonly [Ref, Ref] | null;
  maxAttempts: number | null;
  /** An enqueue was answered with: it is stored already. */
  isStored: boolean;
  effects: number;
  effectNames: string[];
  /** Faults and notices that name it, each of which may have left one copy more. */
  named: number;
}

export type Pending =
  | {
      readonly kind: 'enqueue';
      readonly births: readonly (readonly [JobRecord, Birth])[];
      readonly tx: boolean;
    }
  | { readonly kind: 'claim'; readonly claim: ClaimRecord }
  | {
      readonly kind: 'renew';
      readonly at: number;
      readonly leaseMs: number;
      readonly leases: readonly (LeaseRecord | undefined)[];
    }
  | { readonly kind: 'settle'; readonly settles: readonly (SettleRecord | null)[] }
  | {
      readonly kind: 'move';
      readonly queue: string;
      readonly move: Call & { readonly does: 'redrive' | 'discard' };
      readonly named: readonly MoveRecord[];
      readonly bySelection: boolean;
    };

/** What a store holds of a queue at the end. */
export interface FinalRecord {
  readonly ref: Ref;
  /** Ready, scheduled and leased together; null: it cannot tell. */
  readonly waiting: number | null;
  readonly deadListed: boolean;
}

/** Settlements that were confirmed from `from` to `to` may be undone. */
export interface UndoneSpan {
  readonly host: string;
  readonly from: number;
  to: number;
}

/** What the traced backends promise; of several, what all of them do. */
export interface Promises {
  moves: 'atomic' | 'copy';
  attempts: 'exact' | 'upper-bound';
  fence: 'monotonic' | 'none';
  endsBy: 'time' | 'time-or-connection';
  reclaimBoundMs: number;
  marginMs: number;
}
