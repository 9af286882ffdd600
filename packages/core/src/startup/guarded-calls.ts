import type { Backend } from '../contract/index.ts';
import { SuretyError } from '../errors/index.ts';

/** What a worker asks of a backend while it runs, each call bounded by core too. */
export type GuardedCalls = Pick<Backend, 'claim' | 'renew' | 'settle' | 'settleAndClaim' | 'counts'>;

/** What an adapter may take beyond its own time limit before core stops waiting: its timers and ours share one event loop. */
const SLACK_MS = 2000;

/**
 * An adapter keeps its time limits and rejects; one that hangs or throws must not silence a worker. Its late answer is dropped; the
 * leases end by themselves.
 */
export function guardedCalls(backend: Backend): GuardedCalls {
  const { name } = backend;
  const both = backend.settleAndClaim;
  return {
    claim: (request) =>
      bounded(() => backend.claim(request), request.timeoutMs + request.waitMs, name, 'claim'),
    renew: (leases, leaseMs, options) =>
      bounded(() => backend.renew(leases, leaseMs, options), options.timeoutMs, name, 'renew'),
    settle: (settlements, options) =>
      bounded(() => backend.settle(settlements, options), options.timeoutMs, name, 'settle'),
    counts: (queue, options) =>
      bounded(() => backend.counts(queue, options), options.timeoutMs, name, 'counts'),
    ...(both === undefined
      ? {}
      : {
          settleAndClaim: (settlements, request) =>
            bounded(
              () => both.call(backend, settlements, request),
              request.timeoutMs,
              name,
              'settleAndClaim',
            ),
        }),
  };
}

/** What `call` throws at once rejects too: an executor's throw is a rejection. */
function bounded<Answer>(
  call: () => Promise<Answer>,
  timeoutMs: number,
  adapter: string,
  operation: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const answer = Promise.resolve(call());
    const late = (): void =>
      reject(
        new SuretyError('ADAPTER_BROKE_CONTRACT', `${operation} did not end within its time.`, {
          adapter,
          operation,
        }),
      );
    // An adapter that never answers must not keep a process alive whose worker has stopped; a running worker has its tick.
    const timer = setTimeout(late, timeoutMs + SLACK_MS).unref();
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
