/** Where a Redis server is. */
export interface RedisAccess {
  /** `redis://127.0.0.1:port`, without a password. On an external server, the URL as it was given. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** As the server reports it, like `7.0.15`; a Valkey's own version. */
  readonly version: string;
  readonly product: 'Redis' | 'Valkey';
}

/**
 * A Redis server for tests. Operations on one server wait for each other in the order they were called. `start`, `stop`,
 * `pause`, `resume` and `kill` in a state where they have nothing to do do nothing.
 */
export interface RedisServer extends RedisAccess, AsyncDisposable {
  /** In good order (`SHUTDOWN`): with persistence on, everything is written. Up to 30 s, then rejects. */
  stop(): Promise<void>;
  /** On the same port with the same data, after `stop` or `kill`. Resolves once it answers commands; loading is waited for. */
  start(): Promise<void>;
  restart(): Promise<void>;
  /** SIGKILL, as in a crash of the process (the page cache survives). */
  kill(): Promise<void>;
  /** Freezes the process: connections stay, nothing answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Ends the server at once and removes all it left. */
  destroy(): Promise<void>;
}
