import type { Backend, Notice } from '@surety/core/contract';

/**
 * What the author of an adapter writes so that the suite can ask it. Optional members are fault hooks: where one is
 * missing, the cases that need it are counted as not exercised, which is not the same as not applicable.
 */
export interface Harness {
  /** Name of the backend, as in `npm run conformance -- NAME`. The suite never decides by it. */
  readonly name: string;
  /** Configuration of the backend, null: the plain one. */
  readonly variant: string | null;
  /** Versions of adapter, client library and server, for the report. Called once, after `prepare`. */
  versions(): Promise<Readonly<Record<string, string>>>;
  /** Starts what is needed (a server, a folder). Called once before the first case. */
  prepare(): Promise<void>;
  /** Ends and removes all that `prepare` made. Called once after the last case. */
  destroy(): Promise<void>;
  /** A new backend with connections of its own on the same store, not opened. Every call is one more rival. */
  backend(options?: HarnessBackendOptions): Backend;
  /**
   * Moves the clock of the store forward, where it is virtual; absent: the suite waits in real time.
   * Timers of waiting claims must follow.
   */
  readonly advance?: (ms: number) => Promise<void>;
  /** The same store from another process. Absent: cases that kill processes are not exercised. */
  readonly child?: HarnessChild;
  /** Faults of the server itself. Embedded stores, which have none, leave it out and state `serverless`. */
  readonly server?: HarnessServer;
  /** The store runs inside the calling process: there is no server to stop and no network to cut. */
  readonly serverless?: boolean;
  /** A backend that reaches its server through a proxy. Absent: cases that cut, delay or freeze are not exercised. */
  readonly network?: () => Promise<HarnessNetwork>;
  /**
   * As if this much time had passed for the scheduled jobs of one queue, in a store whose clock cannot be moved: their due times are
   * set back. Not needed beside `advance`.
   */
  readonly elapse?: (queue: string, ms: number) => Promise<void>;
  /**
   * Tries to write a payload text that is not JSON past the adapter, as a foreign producer could. `refused`: the store itself does not take
   * such text, which must then be as it was.
   */
  readonly corruptPayload?: (queue: string, id: string) => Promise<'written' | 'refused'>;
  /** A transaction of the application on the same store, where the capability `transactional` is claimed. */
  readonly transaction?: () => Promise<HarnessTransaction>;
}

/** What the suite may ask of one backend. */
export interface HarnessBackendOptions {
  /** Overrides the URL or file, to point at nothing: a port where nobody listens, a folder that is not there. */
  readonly unreachable?: boolean;
  /** Receives notices in place of dropping them; given to `open` by the suite itself, here for harnesses that log. */
  readonly notify?: (notice: Notice) => void;
}

/** How a child process opens the same store. */
export interface HarnessChild {
  /** URL of a module that exports `connect(args: unknown): Backend` (not opened). Imported in the child. */
  readonly module: string;
  /** JSON, handed to `connect`. Read after `prepare`. */
  args(): unknown;
}

/** Faults of the server. Each resolves once it holds. */
export interface HarnessServer {
  /** Clean stop, and start with the same data and address. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** SIGKILL of all its processes; `start` brings it back. */
  kill(): Promise<void>;
  /** Frozen: accepts nothing, answers nothing, drops nothing. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Ends every session of the backends from the server's side. */
  cutSessions(): Promise<void>;
}

/** One backend behind a proxy of its own. */
export interface HarnessNetwork {
  readonly backend: Backend;
  /** Breaks the connections that stand; new ones work. */
  cut(): Promise<void>;
  /** Connections that stand go silent without a FIN; new ones work. */
  freeze(): Promise<void>;
  /** The server acts, its answers are swallowed, on the connections that stand. */
  dropAnswers(): Promise<void>;
  /** Nothing gets through, old or new. */
  isolate(): Promise<void>;
  delay(ms: number): Promise<void>;
  heal(): Promise<void>;
  close(): Promise<void>;
}

/** A transaction of the application, open until one of its ends is called. */
export interface HarnessTransaction {
  readonly tx: unknown;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}
