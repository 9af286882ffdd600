import { appendFileSync, readFileSync } from 'node:fs';
import type { Backend } from '@surety/core/contract';

/**
 * A backend that writes the names of the queues it makes to a file before it makes them. Several processes of one machine may share the file: a broker does
 * not list its queues to a client.
 */
export function noting(backend: Backend, file: string): Backend {
  const noted = new Set<string>();
  const note = (queues: readonly string[]): void => {
    const fresh = [...new Set(queues)].filter((queue) => !noted.has(queue));
    if (fresh.length === 0) return;
    appendFileSync(file, fresh.map((queue) => `${queue}\n`).join(''));
    for (const queue of fresh) noted.add(queue);
  };
  const { settleAndClaim } = backend;
  return {
    ...backend,
    enqueue(jobs, call) {
      note(jobs.map(({ queue }) => queue));
      return backend.enqueue(jobs, call);
    },
    claim(request) {
      note([request.queue]);
      return backend.claim(request);
    },
    ...(settleAndClaim !== undefined && {
      settleAndClaim: (settlements, request) => {
        note([request.queue]);
        return settleAndClaim(settlements, request);
      },
    }),
    pacing: {
      ...backend.pacing,
      pause(queue, call) {
        note([queue]);
        return backend.pacing.pause(queue, call);
      },
    },
  };
}

/** What was noted. Lines that a killed process left unfinished name queues that were never made. */
export function notedIn(file: string): readonly string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return [...new Set(lines.filter((line) => line !== ''))];
}
