import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import type { Backend, NewJob } from '@surety/core/contract';
import { sqlite } from '@surety/sqlite';
import { serveChild } from '@surety/testbed';

/** One process among rivals on one file. What it knows for sure it writes down at once, so that a kill takes none of it. */
const CALL = { timeoutMs: 30_000 };
const OPEN = { ...CALL, notify: (): void => undefined };

function job(type: string): NewJob {
  const id = randomUUID();
  const rest = { headers: {}, idempotencyKey: id, delayMs: 0, expiresInMs: null, priority: 1 };
  return { id, queue: 'work', type, payload: '{}', ...rest, dedupe: null, maxAttempts: null, maxDepth: null };
}

/** Claims and settles until nothing was there for a time. Every third round it settles with a retry. */
async function drain(
  backend: Backend,
  note: (what: string, ids: readonly string[]) => void,
): Promise<number> {
  let done = 0;
  for (let empty = 0, round = 0; empty < 20; round += 1) {
    const request = {
      queue: 'work',
      max: 1 + (round % 7),
      leaseMs: 60_000,
      waitMs: 20,
      nonce: randomUUID(),
      signal: null,
    };
    const { leases } = await backend.claim({ ...request, ...CALL });
    empty = leases.length === 0 ? empty + 1 : 0;
    const again = round % 3 === 0;
    const ending = leases.filter(({ attempt }) => !(again && attempt === 1));
    note(
      'ending',
      ending.map(({ id }) => id),
    );
    const error = { code: 'HANDLER_FAILED', name: 'Error', message: 'once more', stack: null, attempt: 1 };
    const outcomes = await backend.settle(
      leases.map((lease) =>
        again && lease.attempt === 1
          ? { kind: 'retry', lease, delayMs: 0, error }
          : { kind: 'complete', lease, outcome: 'completed' },
      ),
      CALL,
    );
    const ended = ending.filter((lease) => outcomes[leases.indexOf(lease)]?.status === 'settled');
    note(
      'done',
      ended.map(({ id }) => id),
    );
    done += ended.length;
  }
  return done;
}

serveChild({
  async openOnce({ file }: { file: string }) {
    const backend = sqlite(file);
    await backend.open(OPEN);
    const [outcome] = await backend.enqueue([job('task')], CALL);
    await backend.close({ graceMs: 100 });
    return outcome?.status;
  },

  /** Opens, drains, and tells how many it completed and the longest time that a claim or settle held the event loop. */
  async drain({ file, log }: { file: string; log: string }) {
    const backend = sqlite(file);
    await backend.open(OPEN);
    const done = await drain(backend, noteIn(log));
    await backend.close({ graceMs: 100 });
    return done;
  },

  /** Enqueues and drains until it is killed. */
  async work({ file, log }: { file: string; log: string }) {
    const backend = sqlite(file);
    await backend.open(OPEN);
    const note = noteIn(log);
    void (async () => {
      for (;;) {
        const jobs = Array.from({ length: 5 }, () => job('task'));
        const outcomes = await backend.enqueue(jobs, CALL);
        note(
          'accepted',
          outcomes.filter(({ status }) => status === 'accepted').map(({ id }) => id),
        );
      }
    })();
    void (async () => {
      for (;;) await drain(backend, note);
    })();
    return null;
  },
});

function noteIn(log: string): (what: string, ids: readonly string[]) => void {
  return (what, ids) => {
    if (ids.length > 0) appendFileSync(log, ids.map((id) => `${what} ${id}\n`).join(''));
  };
}
