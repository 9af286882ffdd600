import type { DatabaseSync } from 'node:sqlite';
import type { BackendHealth, OpenOptions } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import { checkOwner, migrate, rollBack } from './migrate.ts';
import { ADAPTER, breaksConnection, isBusy, mapCommit, mapNative } from './native-errors.ts';
import { checkPlace, configure, type FileIdentity, identify, openDatabase } from './open-database.ts';
import type { ResolvedOptions } from './options.ts';
import { prepare, type Statements } from './statement-set.ts';
import {
  type MachineClock,
  type ReadTransaction,
  readWork,
  type WriteTransaction,
  writeWork,
} from './transaction.ts';
import { type Bell, createBell } from './waiting/bell.ts';
import { waitForTurn } from './waiting/wait-for-turn.ts';

/** How often a write makes sure that the path still leads to the open file. A lost file is noticed within this time. */
const IDENTITY_CHECK_MS = 1000;

interface Session {
  readonly db: DatabaseSync;
  readonly st: Statements;
  readonly identity: FileIdentity;
}

/** The one connection of a backend, and the transactions on it. All calls end within their time limit. */
export interface Connection {
  readonly options: ResolvedOptions;
  readonly clock: MachineClock;
  /** What wakes waiting claims. */
  readonly bell: Bell;
  /** Between `open` and `close`. */
  readonly isOpen: boolean;
  open(options: OpenOptions): Promise<void>;
  close(): void;
  /** Throws BACKEND_CLOSED, or BACKEND_UNAVAILABLE before `open`. */
  identity(operation: string): FileIdentity;
  /**
   * Runs `work` in a transaction of its own and commits. Certain failures throw their code: nothing was done. A commit
   * that failed in an unknown way throws OUTCOME_UNKNOWN.
   */
  write<T>(operation: string, timeoutMs: number, work: (tx: WriteTransaction) => T): Promise<T>;
  read<T>(operation: string, timeoutMs: number, work: (tx: ReadTransaction) => T): Promise<T>;
  noteClaim(): void;
  noteRenewal(): void;
  health(): BackendHealth;
}

/** Makes a connection; opens nothing yet. */
export function createConnection(options: ResolvedOptions, clock: MachineClock): Connection {
  return new FileConnection(options, clock);
}

class FileConnection implements Connection {
  readonly options: ResolvedOptions;
  readonly clock: MachineClock;
  /** A new one for every life between open and close: what waits on the old one has been told to go. */
  bell: Bell;
  #session: Session | null = null;
  #closed = false;
  /** Why the connection is to be made anew before the next call; null: it is sound. */
  #broken: SuretyError | null = null;
  #notify: OpenOptions['notify'] = () => undefined;
  #checkedAt = 0;
  #claimedAt: number | null = null;
  #renewedAt: number | null = null;

  constructor(options: ResolvedOptions, clock: MachineClock) {
    this.options = options;
    this.clock = clock;
    this.bell = this.#newBell();
  }

  #newBell(): Bell {
    return createBell({ pollMs: this.options.pollMs, dataVersion: () => this.#dataVersion() });
  }

  get isOpen(): boolean {
    return this.#session !== null;
  }

  async open({ timeoutMs, notify }: OpenOptions): Promise<void> {
    this.#notify = notify;
    if (this.#closed) {
      this.#closed = false;
      this.bell = this.#newBell();
    }
    await this.#untilFree('open', timeoutMs, () => {
      if (this.#session !== null && this.#broken === null && this.#isSameFile(this.#session)) return;
      this.#connect();
    });
  }

  /** Closing twice is closing once. The last one to close the file also copies the log into it and removes the log. */
  close(): void {
    this.#closed = true;
    this.bell.close();
    this.#disconnect();
  }

  identity(operation: string): FileIdentity {
    return this.#sound(operation).identity;
  }

  write<T>(operation: string, timeoutMs: number, work: (tx: WriteTransaction) => T): Promise<T> {
    return this.#untilFree(operation, timeoutMs, () => this.#writeOnce(operation, work));
  }

  read<T>(operation: string, timeoutMs: number, work: (tx: ReadTransaction) => T): Promise<T> {
    return this.#untilFree(operation, timeoutMs, () => {
      const { db, st } = this.#sound(operation);
      db.exec('begin');
      try {
        return work(readWork(st, this.clock));
      } finally {
        rollBack(db);
      }
    });
  }

  /** Changes when another connection has committed. */
  #dataVersion(): number {
    return Number(this.#sound('claim').st.dataVersion.get()?.['data_version']);
  }

  noteClaim(): void {
    this.#claimedAt = performance.now();
  }

  noteRenewal(): void {
    this.#renewedAt = performance.now();
  }

  health(): BackendHealth {
    const ago = (at: number | null): number | null => (at === null ? null : performance.now() - at);
    const reason = this.#closed
      ? 'The backend was closed.'
      : this.#session === null
        ? 'The backend is not open.'
        : (this.#broken?.message ?? null);
    return {
      ok: reason === null,
      lastClaimOkAgoMs: ago(this.#claimedAt),
      lastRenewOkAgoMs: ago(this.#renewedAt),
      reason,
    };
  }

  #writeOnce<T>(operation: string, work: (tx: WriteTransaction) => T): T {
    const startedAt = performance.now();
    const session = this.#sound(operation);
    this.#checkIdentity(session, startedAt);
    const { db, st } = session;
    db.exec('begin immediate');
    let tx: WriteTransaction;
    let result: T;
    try {
      tx = writeWork(st, this.clock, startedAt);
      result = work(tx);
      tx.finish();
    } catch (error) {
      rollBack(db);
      throw error;
    }
    this.#commit(db, operation);
    if (tx.steppedBackMs > 0) this.#warnOfClock(tx.steppedBackMs);
    if (tx.woken.size > 0) this.bell.ring(tx.woken);
    return result;
  }

  #commit(db: DatabaseSync, operation: string): void {
    try {
      db.exec('commit');
    } catch (error) {
      rollBack(db);
      if (isBusy(error)) throw error;
      if (breaksConnection(error)) this.#broken = mapNative(error, operation, this.options.file);
      throw mapCommit(error, operation, this.options.file);
    }
  }

  /** Tries until it is not busy. The tries lie in the future of the event loop, so that a rival in this process can end. */
  async #untilFree<T>(operation: string, timeoutMs: number, attempt: () => T): Promise<T> {
    const deadline = performance.now() + timeoutMs;
    for (let tries = 0; ; tries += 1) {
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) throw this.#failed(error, operation);
      }
      await waitForTurn(tries, deadline);
    }
  }

  #failed(error: unknown, operation: string): SuretyError {
    const mapped = mapNative(error, operation, this.options.file);
    if (breaksConnection(error)) this.#broken = mapped;
    return mapped;
  }

  /** The session, made anew when its connection broke. */
  #sound(operation: string): Session {
    const details = { adapter: ADAPTER, operation };
    if (this.#closed) throw new SuretyError('BACKEND_CLOSED', 'The backend was closed.', details);
    if (this.#session === null) {
      throw new SuretyError('BACKEND_UNAVAILABLE', `${this.options.file} is not open.`, {
        ...details,
        remedy: 'Open the backend first.',
      });
    }
    if (this.#broken === null) return this.#session;
    if (!this.#isSameFile(this.#session)) throw this.#moved(operation);
    return this.#connect();
  }

  #connect(): Session {
    if (this.#closed)
      throw new SuretyError('BACKEND_CLOSED', 'The backend was closed.', { adapter: ADAPTER });
    this.#disconnect();
    const { file, shared } = this.options;
    checkPlace(file);
    const db = openDatabase(this.options);
    try {
      checkOwner(db, file, shared);
      configure(db, file);
      migrate(db, file, shared);
      const identity = identify(file);
      if (identity === null) throw this.#moved('open');
      this.#session = { db, st: prepare(db), identity };
    } catch (error) {
      db.close();
      throw error;
    }
    this.#broken = null;
    this.bell.join(this.#session.identity.key);
    return this.#session;
  }

  #disconnect(): void {
    const session = this.#session;
    this.#session = null;
    if (session === null) return;
    this.bell.leave();
    session.db.close();
  }

  #isSameFile(session: Session): boolean {
    return identify(this.options.file)?.key === session.identity.key;
  }

  /** A file that was removed or replaced takes every job that is written to it along, without an error from SQLite. */
  #checkIdentity(session: Session, now: number): void {
    if (now - this.#checkedAt < IDENTITY_CHECK_MS) return;
    if (!this.#isSameFile(session)) {
      this.#broken = this.#moved('open');
      throw this.#broken;
    }
    this.#checkedAt = now;
  }

  #moved(operation: string): SuretyError {
    return new SuretyError(
      'BACKEND_UNAVAILABLE',
      `${this.options.file} was removed or replaced while it was open.`,
      {
        adapter: ADAPTER,
        operation,
        remedy: 'Put the file back, or open the backend again to use what is there now.',
      },
    );
  }

  #warnOfClock(backMs: number): void {
    this.#notify({
      kind: 'warning',
      code: 'clock-set-back',
      message: `The machine's clock was set back by ${Math.round(backMs)} ms. Leases and delays keep their length.`,
    });
  }
}
