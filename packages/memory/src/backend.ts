import { type Backend, type BackendHealth, CONTRACT_VERSION } from '@surety/core/contract';
import { STRONG, WEAK } from './capabilities.ts';
import { ADAPTER, Connection } from './connection.ts';
import { deadLetters } from './facets/dead-letters.ts';
import { dedupe } from './facets/dedupe.ts';
import { lookup } from './facets/lookup.ts';
import { pacing } from './facets/pacing.ts';
import { claim } from './operations/claim.ts';
import { counts } from './operations/counts.ts';
import { enqueue } from './operations/enqueue.ts';
import { queues } from './operations/queues.ts';
import { renew } from './operations/renew.ts';
import { settle } from './operations/settle.ts';
import { settleAndClaim } from './operations/settle-and-claim.ts';
import type { ResolvedOptions } from './options.ts';
import type { Context } from './store/context.ts';
import { createRandom } from './store/random.ts';

/** Puts a backend together: one connection to the store. */
export function assemble(options: ResolvedOptions): Backend {
  const { store } = options;
  const connection = new Connection(store);
  const capabilities = options.profile === 'strong' ? STRONG : WEAK;
  // Connections of one store differ, and still come out the same in every run.
  const random = createRandom(options.seed + connection.id * 7919);
  const context: Context = { store, connection, capabilities, random, rates: options.rates };

  const common: Backend = {
    name: ADAPTER,
    contractVersion: CONTRACT_VERSION,
    capabilities,
    open: (open) => connection.open(open.timeoutMs, open.notify),
    close: async () => connection.close(),
    health: () => health(connection),
    enqueue: (jobs, call) => enqueue(context, jobs, call),
    claim: (request) => claim(context, request),
    renew: (leases, leaseMs, call) => renew(context, leases, leaseMs, call),
    settle: (settlements, call) => settle(context, settlements, call),
    counts: (queue, call) => counts(context, queue, call),
    queues: (call) => queues(context, call),
    deadLetters: Object.freeze(deadLetters(context)),
    pacing: Object.freeze(pacing(context)),
  };
  const backend: Backend = Object.freeze(
    options.profile === 'weak'
      ? common
      : ({
          ...common,
          settleAndClaim: (settlements, request) => settleAndClaim(context, settlements, request),
          lookup: Object.freeze(lookup(context)),
          dedupe: Object.freeze(dedupe(context)),
        } satisfies Backend),
  );
  store.register(backend, connection);
  return backend;
}

function health(connection: Connection): BackendHealth {
  const ago = (at: number | null): number | null => (at === null ? null : performance.now() - at);
  const reason = connection.trouble;
  return {
    ok: reason === null,
    lastClaimOkAgoMs: ago(connection.lastClaimOk),
    lastRenewOkAgoMs: ago(connection.lastRenewOk),
    reason,
  };
}
