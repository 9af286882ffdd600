import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from '@surety/core';
import type { Backend } from '@surety/core/contract';
import type { ChildCommands, ChildEvent } from './children.ts';
import { makeWorker } from './workers.ts';

type Work = { [K in 'work' | 'stopWork']: (args: ChildCommands[K][0]) => Promise<ChildCommands[K][1]> };

/** Core's worker in a child process. It opens the backend itself. */
export function workFor(
  backend: Backend,
  tell: (event: ChildEvent['event'], ids: readonly string[]) => void,
): { readonly start: Work['work']; readonly stop: Work['stopWork'] } {
  let worker: Worker | null = null;
  return {
    async start(order) {
      const run = async ({ id, type }: { readonly id: string; readonly type: string }): Promise<void> => {
        tell('started', [id]);
        // As hard as an OOM kill: nothing is flushed, no listener runs. What was told is in the pipe by then.
        if (order.exitOn.includes(type)) process.kill(process.pid, 'SIGKILL');
        await sleep(order.handlerMs);
        tell('ended', [id]);
      };
      worker = makeWorker(backend, {
        queue: order.queue,
        handlers: Object.fromEntries(order.types.map((type) => [type, run])),
        concurrency: order.concurrency,
        leaseMs: order.leaseMs,
        maxAttempts: order.maxAttempts,
      });
      await worker.start();
      return null;
    },
    async stop({ drainMs }) {
      await worker?.stop({ drain: drainMs });
      return null;
    },
  };
}
