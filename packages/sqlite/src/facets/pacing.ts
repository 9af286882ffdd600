import type { Pacing } from '@surety/core/contract';
import type { Connection } from '../connection.ts';
import { ensureQueue, findQueue } from '../queue-row.ts';

/** Pause and resume: a mark in the file that every claim reads under the write lock (G9.1, G9.2). */
export function pacing(connection: Connection): Pacing {
  const set = (operation: string, queue: string, paused: boolean, timeoutMs: number): Promise<void> =>
    connection.write(operation, timeoutMs, (tx) => {
      ensureQueue(tx.st, queue);
      tx.st.setPaused.run(paused ? 1 : 0, queue);
      tx.woken.add(queue);
    });
  return {
    pause: (queue, { timeoutMs }) => set('pause', queue, true, timeoutMs),
    resume: (queue, { timeoutMs }) => set('resume', queue, false, timeoutMs),
    state: (queue, { timeoutMs }) =>
      connection.read('state', timeoutMs, ({ st }) => ({ paused: findQueue(st, queue)?.paused === 1 })),
  };
}
