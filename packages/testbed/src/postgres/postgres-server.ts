/** Where a PostgreSQL server is, and databases on it. */
export interface PostgresAccess {
  /**
   * An empty database as an ordinary role without any privilege but owning what it was given: what an application should
   * need. On an external server, the URL as it was given.
   */
  readonly url: string;
  /** The maintenance database as a superuser. On an external server, the URL as it was given. */
  readonly adminUrl: string;
  readonly host: string;
  readonly port: number;
  /** As the server reports it, like `15.18` or `17.2`. */
  readonly version: string;
  /**
   * Makes an empty database owned by the role of `url` and resolves with its URL. Names must be new; without one a name
   * nobody else has is made up. For one database a test file.
   */
  createDatabase(name?: string): Promise<string>;
  /** Drops a database by name or URL, ending the sessions in it. One that does not exist is no error. */
  dropDatabase(nameOrUrl: string): Promise<void>;
}

/** What can be done to a server. What is `false` throws when called. */
export interface ServerPowers {
  /** `stop`, `start`, `restart`. */
  readonly restart: boolean;
  readonly kill: boolean;
  /** `pause`, `resume`. */
  readonly pause: boolean;
}

/**
 * A PostgreSQL server for tests. Operations on one server wait for each other in the order they were called. `start`,
 * `stop`, `pause`, `resume` and `kill` in a state where they have nothing to do do nothing.
 */
export interface PostgresServer extends PostgresAccess {
  /** `external`: named in the environment. `binary`: a private process on this machine. `docker`: a container. */
  readonly kind: 'external' | 'binary' | 'docker';
  readonly can: ServerPowers;
  /** In good order: sessions are ended, a checkpoint is written ("fast" mode). Up to 30 s, then rejects. */
  stop(): Promise<void>;
  /** On the same port with the same data, after `stop` or `kill`. Resolves once it answers queries; recovery is waited for. */
  start(): Promise<void>;
  restart(): Promise<void>;
  /** SIGKILL to every process of the server at one moment, as in a crash of the machine (the page cache survives). */
  kill(): Promise<void>;
  /** Freezes every process of the server: connections stay, nothing answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Ends the server at once and removes all it left. On an external server: drops the databases made by `createDatabase`. */
  destroy(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
