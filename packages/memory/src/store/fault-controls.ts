import type { Backend } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import type { Connection } from '../connection.ts';
import { copyOf } from './copy.ts';
import { FaultLog, type FaultRecord } from './fault-log.ts';
import type { Store } from './store.ts';

/** Everything a backend can be asked, as named in errors and in planted faults. */
export type Operation =
  | 'open'
  | 'enqueue'
  | 'claim'
  | 'renew'
  | 'settle'
  | 'settleAndClaim'
  | 'counts'
  | 'queues'
  | 'list'
  | 'show'
  | 'redrive'
  | 'discard'
  | 'pause'
  | 'resume'
  | 'state'
  | 'find'
  | 'owner'
  | 'forget';

/** The moves that can stop between copy and settle where moves are not atomic. */
export type Move = 'retry' | 'bury' | 'release' | 'redrive';

/**
 * Faults on demand. All hold at once when the call returns. "Connection" is one backend: after a fault that broke it
 * the next call makes a new one by itself.
 */
export interface FaultControls {
  /** Every injected fault, planted here or drawn by the seed, oldest first. */
  readonly log: readonly FaultRecord[];
  /** Breaks the connection that stands; calls under way fail, leases that end by connection end. The next call works. */
  cutConnection(backend: Backend): void;
  /** Breaks all of them. */
  cutAll(): void;
  /** The store is away: `refused` fails every call at once, `frozen` lets each hang until its time limit. Null: back, data kept. */
  refuse(mode: 'refused' | 'frozen' | null): void;
  /** The standing connection goes silent without a sign; a call that ran into its time limit breaks it, the next one works. */
  freeze(backend: Backend): void;
  /** The store acts, its answers are swallowed until the time limit, on the standing connection. */
  dropAnswers(backend: Backend): void;
  /** Nothing gets through, on old or new connections, until `heal`. */
  isolate(backend: Backend): void;
  /** Every answer takes this long; 0: none. */
  delay(backend: Backend, ms: number): void;
  /** Ends freeze, dropAnswers, isolate and delay of a backend. */
  heal(backend: Backend): void;
  /** The next call of this operation, on any backend, throws `error` and does nothing. Several are used up in order. */
  failNext(operation: Operation, error: unknown): void;
  /** The next call of this operation acts, but its answer is lost at once. */
  loseAnswer(operation: Operation): void;
  /** Where moves are `copy`: the next such move stops after the copy, before the original is settled. Refused where moves are atomic. */
  crashBetween(move: Move): void;
  /** Where moves are `copy`: the broker makes a second copy of a job, ready now. Refused where moves are atomic. */
  duplicate(queue: string, id: string): void;
}

/** The store's side of {@link FaultControls}. */
export class StoreFaults implements FaultControls {
  readonly records: FaultLog = new FaultLog();
  readonly #store: Store;
  readonly #failures = new Map<Operation, unknown[]>();
  readonly #lostAnswers = new Map<Operation, number>();
  readonly #crashes = new Map<Move, number>();

  constructor(store: Store) {
    this.#store = store;
  }

  get log(): readonly FaultRecord[] {
    return this.records.records;
  }

  cutConnection(backend: Backend): void {
    this.#cut(this.#connection(backend));
  }

  cutAll(): void {
    for (const connection of this.#store.connections) this.#cut(connection);
  }

  refuse(mode: 'refused' | 'frozen' | null): void {
    this.#store.mode = mode ?? 'up';
    // A store that is gone has closed its connections; a frozen one has not.
    if (mode === 'refused') this.cutAll();
    this.#changed();
  }

  freeze(backend: Backend): void {
    this.#connection(backend).session.line = 'silent';
    this.#changed();
  }

  dropAnswers(backend: Backend): void {
    this.#connection(backend).session.line = 'answers-lost';
    this.#changed();
  }

  isolate(backend: Backend): void {
    this.#connection(backend).isolated = true;
    this.#changed();
  }

  delay(backend: Backend, ms: number): void {
    this.#connection(backend).delayMs = ms;
  }

  heal(backend: Backend): void {
    const connection = this.#connection(backend);
    connection.isolated = false;
    connection.delayMs = 0;
    connection.session.line = 'up';
    this.#changed();
  }

  failNext(operation: Operation, error: unknown): void {
    const planted = this.#failures.get(operation) ?? [];
    this.#failures.set(operation, [...planted, error]);
  }

  loseAnswer(operation: Operation): void {
    this.#lostAnswers.set(operation, (this.#lostAnswers.get(operation) ?? 0) + 1);
  }

  crashBetween(move: Move): void {
    this.#requireCopies('crash between copy and settle');
    this.#crashes.set(move, (this.#crashes.get(move) ?? 0) + 1);
  }

  duplicate(queueName: string, id: string): void {
    this.#requireCopies('duplicate a job');
    const store = this.#store;
    const queue = store.queue(queueName);
    const copy = queue.copies(id)[0];
    if (copy === undefined)
      throw new SuretyError('OPTIONS_INVALID', `No job ${id} is in queue ${queueName}.`);
    const twin = copyOf(copy, store.next());
    queue.add(twin);
    queue.await(twin, store.clock.now(), store.clock.now());
    this.note('broker-duplicate', { queue: queueName, jobId: id, copy: twin.serial });
    store.touched(queue);
  }

  /** Throws what was planted for this operation. */
  throwPlanted(operation: Operation): void {
    const planted = this.#failures.get(operation);
    if (planted === undefined || planted.length === 0) return;
    const error = planted.shift();
    this.note('planted-error', { operation, acted: false });
    throw error;
  }

  takeLostAnswer(operation: Operation): boolean {
    return take(this.#lostAnswers, operation);
  }

  takeCrash(move: Move): boolean {
    return take(this.#crashes, move);
  }

  note(kind: FaultRecord['kind'], facts: Partial<Omit<FaultRecord, 'kind' | 'at'>> = {}): void {
    this.records.add(kind, this.#store.clock.now(), facts);
  }

  #cut(connection: Connection): void {
    this.note('connection-cut');
    connection.breakSession('The connection was cut.');
  }

  #changed(): void {
    for (const connection of this.#store.connections) connection.changed();
    this.#store.touchedAll();
  }

  #requireCopies(what: string): void {
    if (this.#store.weak) return;
    throw new SuretyError('OPTIONS_INVALID', `A store whose moves are atomic cannot ${what}.`);
  }

  #connection(backend: Backend): Connection {
    const connection = this.#store.connectionOf(backend);
    if (connection !== undefined) return connection;
    throw new SuretyError('OPTIONS_INVALID', 'The backend does not belong to this store.');
  }
}

function take<K>(planted: Map<K, number>, key: K): boolean {
  const left = planted.get(key) ?? 0;
  if (left > 0) planted.set(key, left - 1);
  return left > 0;
}
