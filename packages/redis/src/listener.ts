import { setTimeout as sleep } from 'node:timers/promises';
import type { Notice } from '@surety/core/contract';
import type { Client } from './client.ts';
import { LATE, within } from './deadline.ts';
import { createLink, type Link } from './link.ts';
import { fromNative } from './native-errors.ts';

/** Wakes waiting claims. What it pops is only a hint that something may be there; polling stands behind it. */
export interface Listener {
  /** Counts up with every hint for the queue, also while a claim is under way. */
  news(queue: string): number;
  /** Resolves at the first hint after `seen`, after `ms`, when the signal aborts, or with the end of the listener. */
  wait(queue: string, seen: number, ms: number, signal: AbortSignal | null): Promise<void>;
  stop(): void;
}

export interface ListenerSettings {
  /** A client for a blocking pop: a connection of its own, since it stands still meanwhile. */
  readonly make: () => Client;
  readonly connectTimeoutMs: number;
  readonly hintOf: (queue: string) => string;
  /** Puts a hint back that came when nobody waited here any more. */
  readonly giveBack: (queue: string) => void;
  readonly notify: (notice: Notice) => void;
}

/** How long one blocking pop lasts. It is renewed while somebody waits, so this only bounds its silence. */
const BLOCK_S = 10;
/** A pop that is this late has lost its connection without a word. Servers end a pop with their own tick of 100 ms. */
const LATE_MS = 2000;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5000;

interface Watch {
  readonly queue: string;
  readonly link: Link;
  readonly waiters: Set<() => void>;
  news: number;
  popping: boolean;
}

export function createListener(settings: ListenerSettings): Listener {
  const watches = new Map<string, Watch>();
  const stopping = new AbortController();
  let degraded = false;

  function watchOf(queue: string): Watch {
    const known = watches.get(queue);
    if (known !== undefined) return known;
    const link = createLink(settings.make, settings.connectTimeoutMs);
    const made: Watch = { queue, link, waiters: new Set(), news: 0, popping: false };
    watches.set(queue, made);
    return made;
  }

  /** Pops as long as somebody waits. */
  async function pop(watch: Watch): Promise<void> {
    watch.popping = true;
    let backoffMs = FIRST_BACKOFF_MS;
    while (watch.waiters.size > 0 && !stopping.signal.aborted) {
      try {
        await popOnce(watch);
        backoffMs = FIRST_BACKOFF_MS;
        recovered();
      } catch (native) {
        if (stopping.signal.aborted) break;
        failing(native);
        await sleep(backoffMs * (0.5 + Math.random()), undefined, { signal: stopping.signal }).catch(
          () => undefined,
        );
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
      }
    }
    watch.popping = false;
  }

  async function popOnce(watch: Watch): Promise<void> {
    const { queue, link } = watch;
    const client = link.usable() ?? (await link.ready(performance.now() + settings.connectTimeoutMs));
    try {
      // Told at once: a job waits for it.
      const popping = client.call('BLPOP', settings.hintOf(queue), BLOCK_S).then((hint) => {
        if (hint !== null) heard(watch);
      });
      if ((await within(popping, performance.now() + BLOCK_S * 1000 + LATE_MS)) !== LATE) return;
      throw new Error('The connection is closed.');
    } catch (error) {
      link.drop(client);
      throw error;
    }
  }

  function heard(watch: Watch): void {
    watch.news += 1;
    // Whoever waits in another process should have had it.
    if (watch.waiters.size === 0) settings.giveBack(watch.queue);
    for (const wake of watch.waiters) wake();
  }

  function failing(native: unknown): void {
    if (degraded) return;
    degraded = true;
    const reason = 'The connection that waits for new jobs is gone; waiting claims poll.';
    settings.notify({ kind: 'degraded', reason, error: fromNative(native, 'claim') });
  }

  function recovered(): void {
    if (!degraded) return;
    degraded = false;
    settings.notify({ kind: 'recovered', reason: 'Waiting claims are woken by hints again.' });
  }

  return {
    news: (queue) => watches.get(queue)?.news ?? 0,
    wait(queue, seen, ms, signal) {
      if (stopping.signal.aborted || signal?.aborted === true) return Promise.resolve();
      const watch = watchOf(queue);
      if (watch.news !== seen) return Promise.resolve();
      return new Promise((resolve) => {
        const forget = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', wake);
        };
        const wake = (): void => {
          watch.waiters.delete(wake);
          resolve();
          // Behind the claim that goes out now.
          queueMicrotask(forget);
        };
        const timer = setTimeout(wake, ms);
        watch.waiters.add(wake);
        signal?.addEventListener('abort', wake, { once: true });
        if (!watch.popping) void pop(watch);
      });
    },
    stop() {
      stopping.abort();
      for (const { link, waiters } of watches.values()) {
        link.close();
        for (const wake of waiters) wake();
      }
    },
  };
}
