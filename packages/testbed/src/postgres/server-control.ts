import type { Urls } from './databases.ts';
import type { PostgresServer, ServerPowers } from './postgres-server.ts';

export interface PrivateServerOptions {
  readonly settings: Readonly<Record<string, string>>;
  /** A free one is looked for when left out. */
  readonly port: number | undefined;
}

export interface RunningServer {
  readonly control: ServerControl;
  readonly urls: Urls;
  readonly version: string;
}

/** How one kind of server is acted on. `PostgresServer` puts order and state on top. */
export interface ServerControl {
  readonly kind: PostgresServer['kind'];
  readonly can: ServerPowers;
  /** Resolves once the server answers queries. */
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  remove(): Promise<void>;
}
