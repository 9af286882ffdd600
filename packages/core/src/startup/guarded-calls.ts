import type { Backend } from '../contract/index.ts';
import { SuretyError } from '../errors/index.ts';

/** The hot path of a backend, each call bounded by core too. */
export type GuardedCalls = Pick<Backend, 'claim' | 'renew' | 'settle' | 'settleAndClaim'>;

/** What an adapter may take beyond its own time limit before core stops waiting: its timers and ours share one event loop. */
const SLACK_MS = 2000;

/** An adapter keeps its time limits; one that does not must not silence a worker. Its late answer is dropped; the leases end by themselves. */
export function guardedCalls(backend: Backend): GuardedCalls {
  const both = backend.settleAndClaim;
  return {
    claim: (request) =>
      bounded(backend.claim(request), request.timeoutMs + request.waitMs, backend.name, 'claim'),
    renew: (leases, leaseMs, options) =>
      bounded(backend.renew(leases, leaseMs, options), options.timeoutMs, backend.name, 'renew'),
    settle: (settlements, options) =>
      bounded(backend.settle(settlements, options), options.timeoutMs, backend.name, 'settle'),
    ...(both === undefined
      ? {}
      : {
          settleAndClaim: (settlements, request) =>
            bounded(
              both.call(backend, settlements, request),
              request.timeoutMs,
              backend.name,
              'settleAndClaim',
            ),
        }),
  };
}

function bounded<Answer>(
  call: Promise<Answer>,
  timeoutMs: number,
  adapter: string,
  operation: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(
        new SuretyError('ADAPTER_BROKE_CONTRACT', `${operation} did not end within its time.`, {
          adapter,
          operation,
        }),
      );
    }, timeoutMs + SLACK_MS);
    call.then(
      (answer) => {
        clearTimeout(timer);
        resolve(answer);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
