import { type Backend, CONTRACT_VERSION } from '@surety/core/contract';
import { capabilitiesFor, type SqliteCapabilities } from './capabilities.ts';
import { createConnection } from './connection.ts';
import { deadLetters } from './facets/dead-letters.ts';
import { dedupe } from './facets/dedupe.ts';
import { lookup } from './facets/lookup.ts';
import { pacing } from './facets/pacing.ts';
import { transactional } from './facets/transactional.ts';
import { ADAPTER } from './native-errors.ts';
import { claim } from './operations/claim.ts';
import { counts } from './operations/counts.ts';
import { enqueue } from './operations/enqueue.ts';
import { queues } from './operations/queues.ts';
import { renew } from './operations/renew.ts';
import { settle } from './operations/settle.ts';
import { settleAndClaim } from './operations/settle-and-claim.ts';
import type { ResolvedOptions } from './options.ts';
import type { MachineClock } from './transaction.ts';

/** The backend, with all that the contract leaves to choice. */
export type SqliteBackend = Backend<SqliteCapabilities> &
  Required<Pick<Backend, 'settleAndClaim' | 'lookup' | 'dedupe' | 'transactional'>>;

/** Puts the backend together. `clock`: a test's clock in place of the machine's. */
export function assemble(options: ResolvedOptions, clock: MachineClock = null): SqliteBackend {
  const capabilities = capabilitiesFor(options);
  const connection = createConnection(options, clock);
  return Object.freeze({
    name: ADAPTER,
    contractVersion: CONTRACT_VERSION,
    capabilities,
    open: (open) => connection.open(open),
    close: async () => connection.close(),
    health: () => connection.health(),
    enqueue: (jobs, call) => enqueue(connection, capabilities, jobs, call),
    claim: (request) => claim(connection, capabilities, request),
    renew: (leases, leaseMs, call) => renew(connection, capabilities, leases, leaseMs, call),
    settle: (settlements, call) => settle(connection, settlements, call),
    settleAndClaim: (settlements, request) => settleAndClaim(connection, capabilities, settlements, request),
    counts: (queue, call) => counts(connection, capabilities, queue, call),
    queues: (call) => queues(connection, call),
    deadLetters: deadLetters(connection),
    pacing: pacing(connection),
    lookup: lookup(connection),
    dedupe: dedupe(connection),
    transactional: transactional(connection, capabilities),
  } satisfies SqliteBackend);
}
