import type { Notice } from '@surety/core/contract';
import type pg from 'pg';
import { within } from './deadline.ts';
import { fromNative } from './native-errors.ts';
import { cutOff } from './pool.ts';

/** Wakes waiting claims. What it says is only a hint; polling stands behind it. */
export interface Listener {
  /** False: polling alone wakes claims, so idle marks are of no use. */
  readonly enabled: boolean;
  /** Begins to listen, with the first claim that waits. */
  start(): void;
  /** Counts up with every hint for the queue, also while a claim is under way. */
  news(queue: string): number;
  /** `performance.now()` of the last hint for the queue. */
  heardAt(queue: string): number;
  /** Resolves at the first hint after `seen`, after `ms`, or when one of the signals aborts. */
  wait(queue: string, seen: number, ms: number, signals: readonly (AbortSignal | null)[]): Promise<void>;
  /** Listens over another connection: this one may lead to a server that nobody writes to any more. */
  renew(): void;
  stop(): void;
}

export interface ListenerSettings {
  readonly enabled: boolean;
  readonly channel: string;
  /** The statement that asks whether a session can hear of anything. */
  readonly takesWrites: string;
  /** A connection of its own, not connected. */
  readonly connect: () => pg.Client;
  readonly notify: (notice: Notice) => void;
}

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 30_000;
/** A connection that died without a word is found out within this time; until then polling wakes. */
const PING_EVERY_MS = 30_000;
const ANSWER_WITHIN_MS = 5000;

export function createListener(settings: ListenerSettings): Listener {
  const counters = new Map<string, number>();
  const heard = new Map<string, number>();
  const waiters = new Map<string, Set<() => void>>();
  let everything = 0;
  let everythingAt = Number.NEGATIVE_INFINITY;
  let started = false;
  let stopped = false;
  let degraded = false;
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | undefined;
  let backoffMs = FIRST_BACKOFF_MS;

  function hint(queue: string): void {
    counters.set(queue, (counters.get(queue) ?? 0) + 1);
    heard.set(queue, performance.now());
    for (const wake of waiters.get(queue) ?? []) wake();
  }

  /** After a gap anything may have been missed. */
  function hintAll(): void {
    everything += 1;
    everythingAt = performance.now();
    for (const set of waiters.values()) for (const wake of set) wake();
  }

  async function connect(): Promise<void> {
    const fresh = settings.connect();
    client = fresh;
    fresh.on('notification', ({ channel, payload }) => {
      if (channel === settings.channel && payload !== undefined) hint(payload);
    });
    fresh.once('end', () => lost(fresh, new Error('Connection terminated')));
    try {
      await heardInTime(listenOn(fresh));
    } catch (native) {
      lost(fresh, native);
      return;
    }
    if (stopped || client !== fresh) return;
    backoffMs = FIRST_BACKOFF_MS;
    hintAll();
    if (degraded)
      settings.notify({ kind: 'recovered', reason: 'Waiting claims are woken by notifications again.' });
    degraded = false;
    timer = setTimeout(() => void ping(fresh), PING_EVERY_MS);
  }

  async function listenOn(fresh: pg.Client): Promise<true> {
    await fresh.connect();
    await askWritable(fresh);
    await fresh.query(`listen "${settings.channel}"`);
    return true;
  }

  async function ping(current: pg.Client): Promise<void> {
    try {
      await heardInTime(askWritable(current));
    } catch (native) {
      lost(current, native);
      return;
    }
    if (!stopped && client === current) timer = setTimeout(() => void ping(current), PING_EVERY_MS);
  }

  /** Where nothing is written there is nothing to be heard, such as of a primary that was demoted and lives on. */
  async function askWritable(current: pg.Client): Promise<true> {
    const { rows } = await current.query<{ writable: boolean }>(settings.takesWrites);
    if (rows[0]?.writable !== true) throw new Error('Connection error: the server takes no writes');
    return true;
  }

  async function heardInTime(answer: Promise<true>): Promise<void> {
    if ((await within(answer, performance.now() + ANSWER_WITHIN_MS)) === null)
      throw new Error('Connection timeout');
  }

  function lost(gone: pg.Client, native: unknown): void {
    if (client !== gone) return;
    client = null;
    clearTimeout(timer);
    cutOff(gone);
    if (stopped) return;
    if (!degraded) {
      const reason = 'The connection that listens for notifications is gone; waiting claims poll.';
      settings.notify({ kind: 'degraded', reason, error: fromNative(native, 'claim') });
    }
    degraded = true;
    timer = setTimeout(() => void connect(), backoffMs * (0.5 + Math.random()));
    backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
  }

  const news = (queue: string): number => (counters.get(queue) ?? 0) + everything;

  return {
    enabled: settings.enabled,
    start() {
      if (started || stopped || !settings.enabled) return;
      started = true;
      void connect();
    },
    news,
    heardAt: (queue) => Math.max(heard.get(queue) ?? Number.NEGATIVE_INFINITY, everythingAt),
    wait(queue, seen, ms, signals) {
      if (stopped || news(queue) !== seen || signals.some((signal) => signal?.aborted))
        return Promise.resolve();
      return new Promise((resolve) => {
        const set = waiters.get(queue) ?? new Set();
        waiters.set(queue, set);
        const wake = (): void => {
          clearTimeout(wait);
          set.delete(wake);
          for (const signal of signals) signal?.removeEventListener('abort', wake);
          resolve();
        };
        const wait = setTimeout(wake, ms);
        set.add(wake);
        for (const signal of signals) signal?.addEventListener('abort', wake, { once: true });
      });
    },
    renew() {
      const current = client;
      if (current === null || stopped) return;
      client = null;
      clearTimeout(timer);
      cutOff(current);
      timer = setTimeout(() => void connect(), FIRST_BACKOFF_MS * (0.5 + Math.random()));
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      const current = client;
      client = null;
      if (current !== null) cutOff(current);
      for (const set of waiters.values()) for (const wake of set) wake();
    },
  };
}
