import { SuretyError } from '@surety/core/errors';
import type pg from 'pg';
import { type Call, within } from './deadline.ts';
import {
  fromNative,
  isReadOnly,
  isRolledBack,
  keepsSession,
  mayHaveCommitted,
  wasNotSent,
} from './native-errors.ts';
import type { ResolvedOptions } from './options.ts';
import { createPool } from './pool.ts';

/** A row as pg gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** What became of a statement. `uncertain`: it may have been executed and committed. */
export type Attempt =
  | { readonly ok: true; readonly rows: readonly Row[]; readonly sentAt: number }
  | {
      readonly ok: false;
      readonly error: SuretyError;
      readonly native: unknown;
      readonly uncertain: boolean;
    };

/** The few connections of one backend. No state on them outlives a statement, so they may lead through a pooler. */
export interface Connections {
  /** Sends one statement, which is a transaction of its own. Deadlocks are sent again inside the deadline. */
  attempt(text: string, values: readonly unknown[], call: Call): Promise<Attempt>;
  /** As `attempt`, but throws. */
  ask(text: string, values: readonly unknown[], call: Call): Promise<Attempt & { readonly ok: true }>;
  /** Runs several statements on one connection, which is destroyed when the deadline passes or `use` fails. */
  session<T>(call: Call, use: (client: pg.ClientBase) => Promise<T>): Promise<T>;
  /** None of the connections of now is used again: they lead to a server that takes no writes. */
  distrust(): void;
  /** A connection apart from the pool, not connected. The caller ends it. */
  separate(): pg.Client;
  /** Waits for what is under way and ends our own connections, within the time. */
  close(graceMs: number): Promise<void>;
}

/** Hears of every answer: `null` when the store answered, the error when it could not be reached. */
export type OnAnswer = (unreachable: SuretyError | null) => void;

/** How often a rolled back statement is sent again before the error is shown; rivals need one or two. */
const MAX_REPEATS = 20;
const MAX_PAUSE_MS = 100;

/** `onReadOnly`: the server takes no writes, as a primary that was demoted. */
export function createConnections(
  options: ResolvedOptions,
  onAnswer: OnAnswer,
  onReadOnly: () => void = () => undefined,
): Connections {
  const pool = createPool(options);
  let closed = false;
  let running = 0;
  let tellIdle: (() => void) | null = null;

  /** Gives `use` a connection and takes it back: to the pool when `use` says so, otherwise it is destroyed. */
  async function borrow<T>(
    call: Call,
    use: (client: pg.PoolClient, sent: () => void) => Promise<{ readonly value: T; readonly keep: boolean }>,
  ): Promise<{ readonly value: T } | { readonly timedOut: true; readonly sent: boolean }> {
    let held: pg.PoolClient | null = null;
    let sent = false;
    let over = false;
    const work = async (): Promise<{ readonly value: T }> => {
      const client = await pool.checkOut();
      if (over || closed) {
        client.release();
        throw closedError(call.operation);
      }
      held = client;
      const { value, keep } = await use(client, () => {
        sent = true;
      });
      if (keep && !over) {
        held = null;
        client.release();
      }
      return { value };
    };
    running += 1;
    const working = work();
    try {
      const done = await within(working, call.deadline);
      if (done !== null) return done;
      // What comes after the deadline is nobody's any more, its failure too.
      working.catch(() => undefined);
      if (sent) pool.distrust();
      return { timedOut: true, sent };
    } finally {
      over = true;
      if (held !== null) pool.destroy(held);
      running -= 1;
      if (running === 0) tellIdle?.();
    }
  }

  async function once(text: string, values: readonly unknown[], call: Call): Promise<Attempt> {
    let wasSent = false;
    try {
      const done = await borrow<Attempt>(call, async (client, sent) => {
        const sentAt = performance.now();
        sent();
        wasSent = true;
        try {
          const { rows } = await client.query<Record<string, unknown>>(text, values as unknown[]);
          return { value: { ok: true, rows, sentAt }, keep: true };
        } catch (native) {
          if (isReadOnly(native)) distrust();
          return { value: failed(native, call, true), keep: keepsSession(native) };
        }
      });
      const result: Attempt = 'value' in done ? done.value : late(call, done.sent);
      onAnswer(result.ok || !isUnreachable(result.error) ? null : result.error);
      return result;
    } catch (native) {
      const result = failed(native, call, wasSent);
      if (!closed) onAnswer(isUnreachable(result.error) ? result.error : null);
      return result;
    }
  }

  /** After a failover all sessions of before lead to the old primary, as long as it lives. */
  function distrust(): void {
    pool.distrust();
    onReadOnly();
  }

  function failed(native: unknown, call: Call, sent: boolean): Attempt & { readonly ok: false } {
    const error = closed ? closedError(call.operation, native) : asError(native, call);
    return { ok: false, error, native, uncertain: sent && mayHaveCommitted(native) };
  }

  async function attempt(text: string, values: readonly unknown[], call: Call): Promise<Attempt> {
    for (let repeats = 0; ; repeats += 1) {
      if (closed) return { ok: false, error: closedError(call.operation), native: null, uncertain: false };
      const result = await once(text, values, call);
      if (result.ok || repeats >= MAX_REPEATS) return result;
      if (!wasNotSent(result.native) && !isRolledBack(result.native)) return result;
      const pauseMs = Math.random() * Math.min(10 * repeats, MAX_PAUSE_MS);
      if (performance.now() + pauseMs >= call.deadline) return result;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  return {
    attempt,
    async ask(text, values, call) {
      const result = await attempt(text, values, call);
      if (!result.ok) throw result.error;
      return result;
    },
    async session(call, use) {
      if (closed) throw closedError(call.operation);
      try {
        const done = await borrow(call, async (client) => ({ value: await use(client), keep: true }));
        if ('value' in done) return done.value;
      } catch (native) {
        throw asError(native, call);
      }
      throw timeoutError(call);
    },
    distrust,
    separate: () => pool.separate(),
    async close(graceMs) {
      if (closed) return;
      closed = true;
      const deadline = performance.now() + graceMs;
      if (running > 0) {
        const idle = new Promise<true>((resolve) => {
          tellIdle = () => resolve(true);
        });
        await within(idle, deadline);
      }
      await pool.end(deadline);
    },
  };
}

function late(call: Call, sent: boolean): Attempt {
  return { ok: false, error: timeoutError(call), native: null, uncertain: sent };
}

function isUnreachable({ code }: SuretyError): boolean {
  return code === 'BACKEND_UNAVAILABLE' || code === 'BACKEND_TIMEOUT';
}

function asError(native: unknown, call: Call): SuretyError {
  return native instanceof SuretyError ? native : fromNative(native, call.operation);
}

function timeoutError({ operation }: Call): SuretyError {
  return new SuretyError('BACKEND_TIMEOUT', 'PostgreSQL did not answer in time.', {
    adapter: 'postgres',
    operation,
  });
}

function closedError(operation: string, cause?: unknown): SuretyError {
  return new SuretyError('BACKEND_CLOSED', 'The PostgreSQL backend was closed.', {
    adapter: 'postgres',
    operation,
    cause,
  });
}
