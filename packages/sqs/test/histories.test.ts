import type { Backend, Lease, Settlement } from '@surety/core/contract';
import { type SqsFault, startSqs } from '@surety/testbed';
import { expect, test } from 'vitest';
import { CALL, claim, connected, newJob } from './emulator.ts';

const JOBS = 1000;
const QUEUE = 'history';
const LEASE_MS = 3000;
const LIMIT_MS = 240_000;

/** What a fault can do to one job is that there is one copy more of it. */
const COPYING: readonly SqsFault['kind'][] = ['duplicate', 'came-back'];

interface History {
  /** Ends that were confirmed, by job: completed or dead. */
  readonly ends: Map<string, number>;
  /** Settlements whose answer was lost, by job: done or not, and repeated. */
  readonly unclear: Map<string, number>;
  /** Confirmed although the lease had ended when they were sent. */
  readonly unfenced: string[];
}

test(
  '1,000 jobs under every fault at once: none is lost, no late outcome counts, every extra end has its fault (B002, B005, B010, B014)',
  async () => {
    await using server = await startSqs({
      faults: {
        seed: 11,
        throttled: 0.02,
        unavailable: 0.01,
        failedEntry: 0.02,
        lostAnswer: {
          SendMessageBatch: 0.02,
          ReceiveMessage: 0.02,
          DeleteMessageBatch: 0.03,
          ChangeMessageVisibilityBatch: 0.02,
        },
        duplicateReceive: 0.01,
        deletedComesBack: 0.01,
        emptyReceive: 0.05,
        shortReceive: 0.2,
        shuffled: true,
      },
    });
    const producer = await connected(server);
    const accepted = await enqueueAll(producer);
    const history: History = { ends: new Map(), unclear: new Map(), unfenced: [] };
    const until = performance.now() + LIMIT_MS;
    const isOver = (): boolean => accepted.every((id) => history.ends.has(id)) || performance.now() > until;
    const workers = await Promise.all([connected(server), connected(server), connected(server)]);
    await Promise.all(workers.map((worker, index) => workOff(worker, index, history, isOver)));

    const lost = accepted.filter((id) => !history.ends.has(id));
    expect(lost).toEqual([]);
    expect(history.unfenced).toEqual([]);
    const log = await server.faultLog();
    const unexplained = [...history.ends].filter(
      ([id, ends]) => ends > 1 && ends - 1 > explanations(id, log, history),
    );
    expect(unexplained).toEqual([]);
    // The faults were there: a run without them shows nothing.
    for (const kind of ['throttled', 'failed-entry', 'lost-answer', 'duplicate', 'came-back'] as const)
      expect(
        log.some((fault) => fault.kind === kind),
        kind,
      ).toBe(true);
    await Promise.all([producer, ...workers].map((backend) => backend.close({ graceMs: 4000 })));
  },
  LIMIT_MS + 60_000,
);

/** An unknown outcome is repeated with the same id, as a client does; that may store it twice. */
async function enqueueAll(producer: Backend): Promise<readonly string[]> {
  const jobs = Array.from({ length: JOBS }, () => newJob(QUEUE));
  for (let from = 0; from < JOBS; from += 50) {
    let open = jobs.slice(from, from + 50);
    while (open.length > 0) {
      const outcomes = await producer.enqueue(open, CALL);
      open = open.filter((_, index) => outcomes[index]?.status !== 'accepted');
    }
  }
  return jobs.map(({ id }) => id);
}

async function workOff(
  worker: Backend,
  index: number,
  history: History,
  isOver: () => boolean,
): Promise<void> {
  for (let round = 0; !isOver(); round++) {
    const leases = await claim(worker, QUEUE, 10, LEASE_MS).catch(() => []);
    const claimedAt = performance.now();
    // Now and then one holds its jobs too long, or only just.
    if (round % 17 === index) await new Promise((resolve) => setTimeout(resolve, LEASE_MS + 50));
    await settleAll(worker, leases, claimedAt, history);
  }
}

async function settleAll(
  worker: Backend,
  leases: readonly Lease[],
  claimedAt: number,
  history: History,
): Promise<void> {
  let open = leases.map(endOf);
  for (let tries = 0; open.length > 0 && tries < 20; tries++) {
    const sentAt = performance.now();
    const outcomes = await worker.settle(open, CALL);
    for (const [index, { lease, kind }] of open.entries()) {
      const status = outcomes[index]?.status;
      if (status === 'unknown') count(history.unclear, lease.id);
      if (status !== 'settled') continue;
      if (sentAt > claimedAt + LEASE_MS) history.unfenced.push(lease.id);
      if (kind === 'complete' || kind === 'bury') count(history.ends, lease.id);
    }
    open = open.filter((_, index) => outcomes[index]?.status === 'unknown');
  }
}

/** Chosen by the id, so that every copy of a job goes the same way. */
function endOf(lease: Lease): Settlement {
  const error = { code: 'HANDLER_FAILED', name: 'Error', message: 'x', stack: null, attempt: lease.attempt };
  const way = Number.parseInt(lease.id.slice(0, 2), 16) % 8;
  if (way === 0 && lease.attempt < 2) return { kind: 'retry', lease, delayMs: 0, error };
  if (way === 1 && lease.interruptions < 1) return { kind: 'release', lease, delayMs: 0, reason: 'stop' };
  if (way === 2) return { kind: 'bury', lease, error };
  return { kind: 'complete', lease, outcome: 'completed' };
}

/** Faults that can have made a copy: the service's own, a lost answer to a send, a lost answer to a settlement. */
function explanations(id: string, log: readonly SqsFault[], { unclear }: History): number {
  const faults = log.filter(({ kind, action, bodies }) => {
    const copies = COPYING.includes(kind) || (kind === 'lost-answer' && action === 'SendMessageBatch');
    return copies && bodies.some((body) => body.includes(id));
  });
  return faults.length + (unclear.get(id) ?? 0);
}

function count(counts: Map<string, number>, id: string): void {
  counts.set(id, (counts.get(id) ?? 0) + 1);
}
