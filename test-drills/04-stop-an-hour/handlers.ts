import { type Handler, handle } from '@surety/core';
import type { WorkerTools } from '../stage/worker-messages.ts';
import { callJob, type StopArgs } from './jobs.ts';

/** Many times what the downstream takes: past it, it was overrun. */
const CALL_LIMIT_MS = 5000;

/** Calls the downstream; how long the call took is told. */
export function handlers(tools: WorkerTools, { queue, downstream }: StopArgs): readonly Handler[] {
  return [
    handle(callJob(queue), async () => {
      const from = performance.now();
      try {
        await (await fetch(downstream, { signal: AbortSignal.timeout(CALL_LIMIT_MS) })).text();
        tools.tell('called', performance.now() - from);
      } catch (error) {
        tools.tell('call-failed', error instanceof Error ? error.name : String(error));
        throw error;
      }
    }),
  ];
}
