import type { Backend, QueueCounts } from '@surety/core';
import { type DeadJob, type Evidence, extraCopiesOf } from './account.ts';
import { connect, type DemoStore } from './stores.ts';

const TIMEOUT = { timeoutMs: 10_000 } as const;
const PAGE = 50;

/** What the store holds of the queue. */
export interface QueueLook {
  readonly ready: number;
  readonly scheduled: number;
  /** Null: the store does not tell. */
  readonly leased: number | null;
  readonly dead: number;
  /** Ready, scheduled and leased, as far as they are told. */
  readonly waiting: number;
}

/** A backend object of the demo's own, used by no client and no worker. */
export interface Observer extends AsyncDisposable {
  look(): Promise<QueueLook>;
  /** Dead letters beyond the first of their job: what a killed worker leaves where jobs move by copy. */
  extraCopies(): Promise<number>;
  evidence(): Promise<Pick<Evidence, 'counts' | 'dead'>>;
}

/** Opens a fresh backend object, to see what is in the store and not what somebody remembers. */
export async function openObserver(store: DemoStore, queue: string): Promise<Observer> {
  const backend = await connect(store);
  await backend.open({ ...TIMEOUT, notify: () => undefined });
  return {
    look: async () => lookOf(await backend.counts(queue, TIMEOUT)),
    extraCopies: async () => extraCopiesOf(await listDead(backend, queue)),
    evidence: async () => {
      const counts = await backend.counts(queue, TIMEOUT);
      return {
        counts: {
          waiting: lookOf(counts).waiting,
          dead: counts.dead.kind === 'exact' ? counts.dead.value : null,
        },
        dead: await listDead(backend, queue),
      };
    },
    [Symbol.asyncDispose]: () => backend.close({ graceMs: 2000 }),
  };
}

function lookOf({ ready, scheduled, leased, dead }: QueueCounts): QueueLook {
  const figures = {
    ready: ready.value ?? 0,
    scheduled: scheduled.value ?? 0,
    leased: leased.value,
    dead: dead.value ?? 0,
  };
  return { ...figures, waiting: figures.ready + figures.scheduled + (figures.leased ?? 0) };
}

async function listDead(backend: Backend, queue: string): Promise<readonly DeadJob[]> {
  const dead: DeadJob[] = [];
  let cursor: string | null = null;
  do {
    const page = await backend.deadLetters.list({ queue, limit: PAGE, cursor, type: null }, TIMEOUT);
    for (const { id, idempotencyKey: key, type, reason, lastError, attempt } of page.entries) {
      const error = lastError === null ? 'no error was kept' : `${lastError.name}: ${lastError.message}`;
      dead.push({ id, key, type, reason, error, attempts: attempt });
    }
    cursor = page.cursor;
  } while (cursor !== null);
  return dead;
}
