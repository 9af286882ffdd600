import type { Backend, CallOptions } from '../contract/index.ts';

/** Where a store is, as a person names it. */
export interface StoreAddress {
  /** `sqlite:jobs.db`, `postgres://user:password@host/database`, ... May hold a password: show it only by `describe`. */
  readonly url: string;
  /** The part of the store that is Surety's where it is not the default: the schema on PostgreSQL, a prefix elsewhere. */
  readonly namespace: string | null;
}

/**
 * What a person at a terminal needs beside the contract: to make the schema, and to see what a store is like. An adapter exports
 * one as `operator` at its entry point `./operator`; applications never need it. Errors are those of the contract, and
 * OPTIONS_INVALID for an address that is none. Every call ends within its `timeoutMs`.
 */
export interface StoreOperator {
  /** Name of the adapter. */
  readonly adapter: string;
  /** The address without anything secret. */
  describe(address: StoreAddress): string;
  /** A backend on the store, not opened. Unlike an application's, its `open` makes nothing: SCHEMA_MISSING or SCHEMA_TOO_OLD. */
  backend(address: StoreAddress): Backend;
  schema(address: StoreAddress, options: CallOptions): Promise<SchemaState>;
  /** Makes the schema, or brings it up to date. Several at once: one does it. Doing it again does nothing. */
  migrate(address: StoreAddress, options: CallOptions): Promise<void>;
  /** Looks at the store and changes nothing. Throws only when the store cannot be reached at all. */
  diagnose(address: StoreAddress, options: DiagnoseOptions): Promise<readonly Finding[]>;
  /** A place of its own in the same store, for trials. Nothing outside of it is touched. */
  trial(address: StoreAddress, options: CallOptions): Promise<Trial>;
}

/** Where the schema of a store stands. */
export interface SchemaState {
  /** 0: there is none. */
  readonly version: number;
  /** What this version of the adapter needs; 0: the store has no schema at all. */
  readonly newest: number;
  /** What `migrate` would do now, in the store's own language, for a person to read or run. Empty: nothing. */
  readonly script: string;
}

/** Limits of a diagnosis that are a matter of taste. */
export interface DiagnoseOptions extends CallOptions {
  /** A transaction that is open longer than this is a problem. */
  readonly longTransactionMs: number;
}

/** One thing that was looked at. */
export interface Finding {
  /** Stable, lower case: `clock`, `open-transactions`. One check may find several things. */
  readonly check: string;
  /** `problem`: a promise is weaker, or work stands still, until it is changed. `note`: worth knowing. */
  readonly level: 'ok' | 'note' | 'problem';
  /** What was found, with its figures. Without passwords and payloads. */
  readonly what: string;
  /** What to do. Null only where the level is `ok`. */
  readonly remedy: string | null;
}

/** A place for trials. Disposing of it removes all that was stored there. */
export interface Trial extends AsyncDisposable {
  /** What it is and where, for a person who finds it after a crash: `the schema surety_verify_1f2e`. */
  readonly where: string;
  /** The store runs inside the process that uses it. */
  readonly serverless: boolean;
  readonly versions: Readonly<Record<string, string>>;
  /** A new backend with connections of its own, not opened. */
  backend(): Backend;
  /** One that points at nothing: a port where nobody listens, a folder that is not there. */
  unreachable(): Backend;
  /** For other processes: a module that exports `connect(args): Backend`, and its argument, as JSON can hold it. */
  readonly connect: { readonly module: string; readonly args: unknown };
  /** A transaction as an application would have it open. Absent where the store has none. */
  readonly transaction?: () => Promise<TrialTransaction>;
}

/** Open until one of its ends is called. */
export interface TrialTransaction {
  readonly tx: unknown;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}
