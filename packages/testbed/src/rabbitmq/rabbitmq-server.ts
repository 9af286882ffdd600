/** Versions that can be had: the first is the one of Debian 12 (or what this machine has), the others come from later releases of Debian. */
export type RabbitmqVersion = '3.10' | '4.0' | '4.3';

/** Where a broker is. */
export interface RabbitmqAccess {
  /** `amqp://user:password@127.0.0.1:port`, virtual host `/`. The user may do everything in it. */
  readonly url: string;
  /** As the broker reports it, like `3.10.8`. */
  readonly version: string;
}

/**
 * A private broker for tests. Operations wait for each other in the order they were called; where there is nothing to do
 * they do nothing.
 */
export interface RabbitmqServer extends RabbitmqAccess, AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** In good order, as a package upgrade does it. */
  stop(): Promise<void>;
  /** On the same port with the same data; resolves once it greets. */
  start(): Promise<void>;
  /** SIGKILL to every process of the broker at one moment. */
  kill(): Promise<void>;
  /** Freezes every process: connections stay, nothing answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Runs `rabbitmqctl` against the broker, which takes seconds; resolves with what it printed, rejects when it fails. */
  control(...args: readonly string[]): Promise<string>;
  /** Closes all connections from the broker's side. */
  closeConnections(): Promise<void>;
  /** Raises or clears the memory alarm: while it stands no publisher is read from. */
  setMemoryAlarm(on: boolean): Promise<void>;
  /** Enables the management plugin on a free port until the broker is restarted; resolves with the URL of its HTTP API. Not for 4.0 and 4.3. */
  startManagement(): Promise<string>;
  /** Ends the broker at once and removes all it left. */
  destroy(): Promise<void>;
}
