import { randomBytes } from 'node:crypto';
import type { Backend, CallOptions } from '@surety/core/contract';
import type { StoreAddress, StoreOperator } from '@surety/core/operator';

/** How any process opens the store: a module that exports `connect(args): Backend`, and its argument as JSON. May hold a password. */
export interface Connect {
  readonly module: string;
  readonly args: unknown;
}

/** Faults of a server. Each resolves once it holds. */
export interface ServerControl {
  /** In good order; `start` brings it back with the same data at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** SIGKILL of all its processes; `start` brings it back. */
  kill(): Promise<void>;
  /** Frozen: accepts nothing, answers nothing, drops nothing. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

/** A road to the server that can be made to fail. What is opened by its `connect` goes over it; modes add up until `heal`. */
export interface Road extends AsyncDisposable {
  readonly connect: Connect;
  /** Breaks the connections that stand; new ones work. */
  cut(): void;
  /** Silence on the connections that stand, without a word to either side; `all`: new ones too. */
  blackhole(mode: 'existing' | 'all'): void;
  /** Each way takes this much longer. */
  slow(ms: number): void;
  /** The server hears and acts, its answers are lost. */
  dropAnswers(): void;
  heal(): Promise<void>;
}

/** A store with room for drills alone, and what may be done to it. Disposing of it removes all that was stored there. */
export interface Place extends AsyncDisposable {
  /** Name of the adapter: `postgres`. */
  readonly backend: string;
  /** For people, without anything secret. */
  readonly where: string;
  readonly connect: Connect;
  /** Null: the server is not the drill's to end, or there is none. */
  readonly server: ServerControl | null;
  /** Null: the same of the network. */
  readonly road: (() => Promise<Road>) | null;
}

/** A backend of a place, not opened. */
export async function connectTo({ module, args }: Connect): Promise<Backend> {
  const loaded = (await import(module)) as { connect(args: unknown): Backend | Promise<Backend> };
  return loaded.connect(args);
}

/**
 * A place in somebody's store: what the operator calls a trial (a schema, a prefix, a folder of its own), in which every queue has
 * a new name too. Server and network are not touched.
 */
export async function placeIn(
  operator: StoreOperator,
  address: StoreAddress,
  call: CallOptions,
): Promise<Place> {
  const trial = await operator.trial(address, call);
  return {
    backend: operator.adapter,
    where: `${trial.where} of ${operator.describe(address)}`,
    connect: trial.connect,
    server: null,
    road: null,
    [Symbol.asyncDispose]: () => trial[Symbol.asyncDispose](),
  };
}

/** A name that no queue has had before, within the rules of all backends. */
export function freshQueueName(): string {
  return `drill-${randomBytes(8).toString('hex')}`;
}
