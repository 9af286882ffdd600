import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Backend, Lease } from '@surety/core/contract';
import { workFor } from './child-work.ts';
import type { ChildCommands, ChildEvent } from './children.ts';

type Tell = (event: ChildEvent['event'], ids: readonly string[]) => void;
type Handlers = { [K in keyof ChildCommands]: (args: ChildCommands[K][0]) => Promise<ChildCommands[K][1]> };

const CALL = { timeoutMs: 15_000 };
/** Between two empty claims or after an error of a loop. */
const PAUSE_MS = 10;

/** Serves the commands of the suite on one backend. */
export function serverOf(backend: Backend, tell: Tell): (command: string, args: never) => Promise<unknown> {
  const held = new Map<string, Lease>();
  const leasesOf = (ids: readonly string[]): readonly Lease[] => ids.flatMap((id) => held.get(id) ?? []);
  const work = workFor(backend, tell);
  const claim = async (queue: string, max: number, leaseMs: number): Promise<readonly Lease[]> => {
    const request = { queue, max, leaseMs, waitMs: 0, nonce: randomUUID(), signal: null, ...CALL };
    return (await backend.claim(request)).leases;
  };

  const handlers: Handlers = {
    async open(options) {
      await backend.open({ ...options, notify: () => {} });
      return null;
    },
    async close(options) {
      await backend.close(options);
      return null;
    },
    enqueue: ({ jobs }) => backend.enqueue(jobs, CALL),
    async enqueueLoop({ template, batch }) {
      void forever(tell, async () => {
        const jobs = Array.from({ length: batch }, () => freshCopy(template));
        const outcomes = await backend.enqueue(jobs, CALL);
        tell(
          'accepted',
          outcomes.filter(({ status }) => status === 'accepted').map(({ id }) => id),
        );
      });
      return null;
    },
    async claim({ queue, max, leaseMs }) {
      const leases = await claim(queue, max, leaseMs);
      for (const lease of leases) held.set(lease.id, lease);
      return leases.map(({ id, attempt, deliveries }) => ({ id, attempt, deliveries }));
    },
    settle: ({ ids }) =>
      backend.settle(
        leasesOf(ids).map((lease) => ({ kind: 'complete', lease, outcome: 'completed' })),
        CALL,
      ),
    renew: ({ ids, leaseMs }) => backend.renew(leasesOf(ids), leaseMs, CALL),
    async drainLoop({ queue, max, leaseMs }) {
      void forever(tell, async () => {
        const leases = await claim(queue, max, leaseMs);
        if (leases.length === 0) return sleep(PAUSE_MS);
        tell(
          'claimed',
          leases.map(({ id }) => id),
        );
        const outcomes = await backend.settle(
          leases.map((lease) => ({ kind: 'complete', lease, outcome: 'completed' })),
          CALL,
        );
        tell(
          'settled',
          leases.filter((_, index) => outcomes[index]?.status === 'settled').map(({ id }) => id),
        );
      });
      return null;
    },
    work: work.start,
    stopWork: work.stop,
  };

  return async (command, args) => {
    const handler = (handlers as unknown as Record<string, ((args: never) => Promise<unknown>) | undefined>)[
      command
    ];
    if (handler === undefined) throw new Error(`Unknown command ${command}.`);
    return handler(args);
  };
}

function freshCopy<T extends { readonly id: string; readonly idempotencyKey: string }>(template: T): T {
  const id = randomUUID();
  return { ...template, id, idempotencyKey: id };
}

async function forever(tell: Tell, step: () => Promise<void>): Promise<never> {
  for (;;) {
    try {
      await step();
    } catch (error) {
      tell('error', [error instanceof Error ? error.message : String(error)]);
      await sleep(PAUSE_MS);
    }
    // A loop of calls that never leave the process would starve the line to the parent.
    await sleep(0);
  }
}
