import { TRACE_VERSION } from '@surety/core/trace';

const QUEUE = 'q';
const STEP_MS = 200;
const LEASE_MS = 60_000;

/** The trace of one process on a store whose moves are copies, about one job, written step by step. */
export class CopyTrace {
  static readonly JOB = '01890a5d-ac96-774b-bcce-b302099a8057';
  readonly #lines: string[] = [];
  readonly #process: string;
  #at = 0;
  #calls = 100;

  /** `near`: on its host, and later. */
  constructor(
    process: string,
    near: CopyTrace | null = null,
    endsBy: 'time' | 'time-or-connection' = 'time-or-connection',
  ) {
    this.#process = process;
    this.#at = near === null ? 0 : near.#at;
    const host = near === null ? process : near.#process;
    this.#write({ kind: 'open', v: TRACE_VERSION, host, pid: 1, wall: 'then' });
    const lease = { endsBy, reclaimBoundMs: 100, marginMs: 0 };
    this.#write({
      kind: 'backend',
      name: 'x',
      moves: 'copy',
      attempts: 'upper-bound',
      fence: 'none',
      ...lease,
    });
  }

  get text(): string {
    return this.#lines.join('\n');
  }

  enqueue(delayMs = 0): this {
    const call = ++this.#calls;
    this.#write({ kind: 'enqueue', call, jobs: [{ id: CopyTrace.JOB, queue: QUEUE, delayMs }] });
    return this.#write({ kind: 'enqueued', call, outcomes: ['accepted'] });
  }

  claim(lease: number, copy: string, attempt = 1): this {
    const call = ++this.#calls;
    const nonce = `nonce-${this.#process}-${lease}`;
    this.#write({ kind: 'claim', call, queue: QUEUE, max: 1, leaseMs: LEASE_MS, nonce });
    const told = { lease, id: CopyTrace.JOB, nonce, fence: 0, copy, attempt };
    return this.#write({ kind: 'claimed', call, leasedAt: this.#at, leases: [told] });
  }

  settle(lease: number, does: string, outcome = 'settled'): this {
    const call = ++this.#calls;
    const one = { lease, id: CopyTrace.JOB, do: does, code: 'X' };
    this.#write({ kind: 'settle', call, settlements: [one] });
    return this.#write({ kind: 'settled', call, outcomes: [outcome] });
  }

  fault(facts: object): this {
    return this.#write({ kind: 'fault', fault: 'planned', ...facts });
  }

  /** Says something, so that it lived. */
  note(): this {
    return this.#write({ kind: 'notice', notice: 'recovered', text: 'all is well' });
  }

  dead(count: number): this {
    const letter = { id: CopyTrace.JOB, state: 'dead', reason: 'X', hasError: true };
    return this.#write({ kind: 'found', queue: QUEUE, jobs: Array.from({ length: count }, () => letter) });
  }

  /** Nothing else is left in the store. */
  end(): this {
    this.#write({
      kind: 'final',
      queue: QUEUE,
      ready: 0,
      scheduled: 0,
      leased: null,
      dead: 0,
      deadListed: true,
    });
    return this.close();
  }

  close(): this {
    return this.#write({ kind: 'close' });
  }

  #write(event: object): this {
    this.#at += STEP_MS;
    const head = { process: this.#process, seq: this.#lines.length + 1, at: this.#at };
    this.#lines.push(JSON.stringify({ ...event, ...head }));
    return this;
  }
}
