import pg from 'pg';
import type { ResolvedOptions } from './options.ts';

/** Errors reach whoever waits for the statement; here they only need a listener, or they would end the process. */
const ignore = (): void => undefined;

/** The connections of one backend: of a pool of its own, or of one it was given. */
export interface Pool {
  /** A connection for one statement or transaction. */
  checkOut(): Promise<pg.PoolClient>;
  /** All connections made before are suspect: none of them is handed out again. */
  distrust(): void;
  /** Destroys a connection that was checked out. */
  destroy(client: pg.PoolClient): void;
  /** A connection apart from the pool, not connected; the caller ends it. */
  separate(): pg.Client;
  /** Ends the pool's own connections by the time (`performance.now()`); a given pool is left alone. */
  end(deadline: number): Promise<void>;
}

/** How long good-byes may take. After that the sockets are cut: into a dead network they would last for ever. */
const FAREWELL_MS = 500;

export function createPool(options: ResolvedOptions): Pool {
  const live = new Set<pg.Client>();
  const own = options.pool === null;
  const pool = options.pool ?? makePool(options, live);
  const heard = new WeakSet<object>();
  const born = new WeakMap<object, number>();
  let generation = 0;
  if (own) pool.on('error', ignore);

  /** A connection that dies emits errors whether it is checked out or not. */
  function adopt(client: pg.PoolClient): void {
    if (heard.has(client)) return;
    heard.add(client);
    born.set(client, generation);
    client.on('error', ignore);
  }
  // Before it is handed out: a server that ends the session may say so in the packet in which it lets it in, and the pool no longer
  // listens by then. On a pool of the application that would hide errors of the application's own connections.
  if (own) pool.on('connect', adopt);

  function destroy(client: pg.PoolClient): void {
    cutOff(client);
    client.release(true);
  }

  return {
    async checkOut() {
      for (;;) {
        const client = await pool.connect();
        adopt(client);
        if (born.get(client) === generation) return client;
        destroy(client);
      }
    },
    distrust() {
      generation += 1;
    },
    destroy,
    separate() {
      const made = own ? new pg.Client(clientConfig(options)) : likeThoseOf(pool);
      made.on('error', ignore);
      return made;
    },
    async end(deadline) {
      if (!own) return;
      const ended = pool.end().then(ignore, ignore);
      await Promise.race([ended, delay(Math.min(deadline - performance.now(), FAREWELL_MS))]);
      for (const client of live) cutOff(client);
    },
  };
}

/** Cuts the socket under a connection. `connection.stream` is where pg keeps it. */
export function cutOff(client: pg.ClientBase): void {
  (client as unknown as { connection?: { stream?: { destroy(): void } } }).connection?.stream?.destroy();
}

/** As pg-pool makes its own: with the class and the options it was given. */
function likeThoseOf(pool: pg.Pool): pg.Client {
  const inside = pool as unknown as { readonly Client: typeof pg.Client; readonly options: pg.ClientConfig };
  return new inside.Client(inside.options);
}

function clientConfig(options: ResolvedOptions): pg.ClientConfig {
  return {
    connectionString: options.url ?? '',
    application_name: 'surety',
    connectionTimeoutMillis: options.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

/** `live` holds every connection of the pool from its making on, so that a closed backend leaves no socket behind. */
function makePool(options: ResolvedOptions, live: Set<pg.Client>): pg.Pool {
  class PooledClient extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      live.add(this);
      this.once('end', () => live.delete(this));
    }
  }
  return new pg.Pool({
    ...clientConfig(options),
    Client: PooledClient,
    max: options.poolSize,
    idleTimeoutMillis: 30_000,
  });
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
