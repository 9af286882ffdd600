/** The kinds of injected faults. */
export type FaultKind =
  /** The broker handed a second copy out, or was told to by a test. */
  | 'broker-duplicate'
  /** A move stopped after its copy was confirmed, before the original was settled. */
  | 'crash-between'
  /** An id was stored again by a backend that does not remember ids. */
  | 'id-stored-again'
  | 'empty-claim'
  /** `acted` says whether the settlement counted. */
  | 'unknown-settle'
  | 'answer-lost'
  | 'connection-cut'
  | 'connection-ended'
  | 'planted-error';

/** One injected fault. */
export interface FaultRecord {
  readonly kind: FaultKind;
  /** By the store's clock, ms since the epoch. */
  readonly at: number;
  readonly queue: string | null;
  readonly jobId: string | null;
  /** The nonce of the extra copy, where the fault made one. */
  readonly copy: number | null;
  readonly operation: string | null;
  /** For faults that hide an answer: whether the store acted. */
  readonly acted: boolean | null;
}

/** What happened to the store that a sound one would not do. Every extra copy of a job has its line here. */
export class FaultLog {
  readonly #records: FaultRecord[] = [];

  add(kind: FaultKind, at: number, facts: Partial<Omit<FaultRecord, 'kind' | 'at'>> = {}): void {
    this.#records.push(
      Object.freeze({
        kind,
        at,
        queue: null,
        jobId: null,
        copy: null,
        operation: null,
        acted: null,
        ...facts,
      }),
    );
  }

  get records(): readonly FaultRecord[] {
    return this.#records;
  }

  of(kind: FaultKind): readonly FaultRecord[] {
    return this.#records.filter((record) => record.kind === kind);
  }
}
