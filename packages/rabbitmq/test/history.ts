import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Backend, Lease, Notice, Settlement } from '@surety/core/contract';
import { newJob } from './backends.ts';

/** What became of one job, as the callers were told. */
interface Life {
  enqueues: ('accepted' | 'unknown')[];
  completed: number;
  /** When settlements of it were answered with yes. */
  readonly settledAt: number[];
  /** Calls whose answer was lost, and leases that ended under their holder: each may leave another copy. */
  faults: number;
  /** All of it in words, with the time in seconds. */
  readonly story: string[];
}

/** Work of many jobs under faults, and what it came to. */
export interface History {
  readonly accepted: number;
  /** Accepted, and never completed: what happened to each. */
  readonly lost: readonly string[];
  /** Completed more often than enqueues and faults of that very job can explain: what happened to each. */
  readonly unexplained: readonly string[];
  /** Completions beyond the first of each job. */
  readonly extra: number;
  /** How long it took from the end of all faults until nothing was left to do. */
  readonly restMs: number;
}

const JOBS = 1000;
const BATCH = 10;
const LEASE_MS = 5000;
/** After the faults have ended: from here on nothing may be missing. */
const PATIENCE_MS = 60_000;
const ERROR = { code: 'X', name: 'Error', message: 'x', stack: null, attempt: 1 };

/**
 * Enqueues a thousand jobs, repeating what is unknown with the same id, while workers complete, retry, release and delay them; meanwhile `disturb` does
 * what it likes. Ends when all that was accepted is completed, or after a minute of peace.
 */
export async function runHistory(
  queue: string,
  producer: Backend,
  workers: readonly Backend[],
  /** What all the backends have told; filled while they work. */
  notices: readonly Notice[],
  disturb: (brokerEnds: (end: () => Promise<void>) => Promise<void>) => Promise<void>,
  /** How long some of the jobs, and of their retries, are put off; 0: none is. */
  delayMs = 100,
): Promise<History> {
  const lives = new Map<string, Life>();
  const lifeOf = (id: string): Life => {
    const life = lives.get(id) ?? { enqueues: [], completed: 0, settledAt: [], faults: 0, story: [] };
    lives.set(id, life);
    return life;
  };
  let working = true;
  // An acknowledgement has no confirm: what the broker had not written when it ended is undone, and the job runs again. A copy that was confirmed
  // stands in the log of the queue behind all that was acknowledged before it was sent.
  let writtenUpTo = 0;
  const confirmed = (sentAt: number): void => {
    writtenUpTo = Math.max(writtenUpTo, sentAt);
  };
  const ended = workers.map((worker) =>
    work({ backend: worker, queue, lifeOf, delayMs, confirmed }, () => working),
  );
  const producing = produce({ backend: producer, queue, lifeOf, delayMs, confirmed });
  const ends: { readonly from: number; readonly to: number }[] = [];
  await disturb(async (end) => {
    const from = writtenUpTo;
    await end();
    ends.push({ from, to: performance.now() });
  });
  const healedAt = performance.now();
  await producing;
  const isDone = async (): Promise<boolean> => {
    if (![...lives.values()].every(({ completed }) => completed > 0)) return false;
    // Extra copies run too, before anything is judged.
    const { ready, scheduled } = await producer.counts(queue, { timeoutMs: 5000 });
    return ready.value === 0 && scheduled.value === 0;
  };
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isDone().catch(() => false)) && performance.now() < deadline) await sleep(50);
  const restMs = performance.now() - healedAt;
  working = false;
  await Promise.all(ended);
  const all = [...lives];
  return {
    accepted: all.length,
    lost: all.filter(([, { completed }]) => completed === 0).map(storyOf),
    unexplained: all
      .filter(
        ([id, life]) =>
          life.completed > life.enqueues.length + life.faults + undone(life, ends) + doubled(id, notices),
      )
      .map(storyOf),
    restMs,
    extra: all.reduce((sum, [, { completed }]) => sum + Math.max(0, completed - 1), 0),
  };
}

/** With its id; times are in seconds. */
function storyOf([id, { story }]: readonly [string, Life]): string {
  return [id, ...story].join('; ');
}

function tell({ story }: Life, what: string): void {
  story.push(`${(performance.now() / 1000).toFixed(3)} ${what}`);
}

/** How often an answer was lost that concerned the job while nobody had claimed it: it was given back, or moved on from one delay to the next. */
function doubled(id: string, notices: readonly Notice[]): number {
  return notices.filter((notice) => notice.kind === 'warning' && notice.message.includes(id)).length;
}

/** Settlements that the end of a broker may have undone. */
function undone(
  { settledAt }: Life,
  ends: readonly { readonly from: number; readonly to: number }[],
): number {
  return settledAt.filter((at) => ends.some(({ from, to }) => at >= from && at <= to)).length;
}

/** Who takes part, and with what. */
interface Part {
  readonly backend: Backend;
  readonly queue: string;
  readonly lifeOf: (id: string) => Life;
  readonly delayMs: number;
  /** A message that was sent to the queue at this moment, not through the delays, was stored. */
  readonly confirmed: (sentAt: number) => void;
}

async function produce({ backend, queue, lifeOf, delayMs, confirmed }: Part): Promise<void> {
  for (let sent = 0; sent < JOBS; sent += BATCH) {
    let open = Array.from({ length: BATCH }, (_, n) =>
      newJob(queue, n === 0 ? { delayMs: 2 * delayMs } : {}),
    );
    while (open.length > 0) {
      const sentAt = performance.now();
      const outcomes = await backend.enqueue(open, { timeoutMs: 2000 }).catch(() => []);
      const again = [];
      for (const [index, job] of open.entries()) {
        const status = outcomes[index]?.status ?? 'rejected';
        if (status === 'accepted' || status === 'unknown') lifeOf(job.id).enqueues.push(status);
        tell(lifeOf(job.id), `enqueue with ${job.delayMs} ms: ${status}`);
        if (status !== 'accepted') again.push(job);
        else if (job.delayMs === 0) confirmed(sentAt);
      }
      open = again;
      await sleep(open.length > 0 ? 50 : 5);
    }
  }
}

async function work(
  { backend, queue, lifeOf, delayMs, confirmed }: Part,
  isWorking: () => boolean,
): Promise<void> {
  const request = { queue, max: 5, leaseMs: LEASE_MS, waitMs: 200, signal: null, timeoutMs: 2000 };
  while (isWorking()) {
    const claim = await backend.claim({ ...request, nonce: randomUUID() }).catch(() => null);
    if (claim === null) {
      await sleep(50);
      continue;
    }
    const settlements = claim.leases.map((lease) => settlementOf(lease, delayMs));
    for (const { kind, lease } of settlements)
      tell(lifeOf(lease.id), `claim as attempt ${lease.attempt}, delivery ${lease.deliveries}, to ${kind}`);
    const sentAt = performance.now();
    const outcomes = await backend.settle(settlements, { timeoutMs: 2000 }).catch(() => []);
    for (const [index, { lease, kind }] of settlements.entries()) {
      const status = outcomes[index]?.status ?? 'unknown';
      const life = lifeOf(lease.id);
      tell(life, `${kind}: ${status}`);
      if (status === 'settled') life.settledAt.push(performance.now());
      else life.faults += 1;
      if (status === 'settled' && isCopiedAtOnce(settlements[index])) confirmed(sentAt);
      // One whose answer was lost may have counted.
      if (kind === 'complete' && status !== 'lease-lost') life.completed += 1;
    }
  }
}

function isCopiedAtOnce(settlement: Settlement | undefined): boolean {
  return (settlement?.kind === 'retry' || settlement?.kind === 'release') && settlement.delayMs === 0;
}

/** Most are moves: only between the two halves of one can a job be lost. */
function settlementOf(lease: Lease, delayMs: number): Settlement {
  const draw = Math.random();
  if (draw < 0.35) return { kind: 'retry', lease, delayMs: draw < 0.3 ? 0 : delayMs, error: ERROR };
  if (draw < 0.65) return { kind: 'release', lease, delayMs: 0, reason: 'unstarted' };
  return { kind: 'complete', lease, outcome: 'completed' };
}
