import type { Backend, Claim, Lease, NewJob, Settlement } from '@surety/core/contract';
import { override } from '../stage/override.ts';
import type { Wrap } from '../stage/stage.ts';

/** A planted bug. The named cases must fail on it; that is how we know that green means something. */
export interface Saboteur {
  readonly id: string;
  /** What is broken, in one sentence. */
  readonly bug: string;
  /** Ids of cases, each of which must fail. */
  readonly mustFail: readonly string[];
  /** The backend that is sabotaged; without the bug the same cases pass on it. */
  readonly over: 'memory' | 'sqlite';
  /** Called once per run, so that the backends of a run can share what the bug needs. */
  readonly plant: () => Wrap;
}

/** A bug that needs nothing but the backend itself. */
export function each(plant: Wrap): () => Wrap {
  return () => plant;
}

/** Changes what claims return. Leases are handed on as they are, or as copies made by `keep`, which are put back into renewals and settlements. */
export function alterClaims(
  backend: Backend,
  alter: (
    leases: readonly Lease[],
    keep: (copy: Lease, origin: Lease) => Lease,
    max: number,
  ) => readonly Lease[],
): Backend {
  const origins = new WeakMap<Lease, Lease>();
  const keep = (copy: Lease, origin: Lease): Lease => {
    origins.set(copy, origin);
    return copy;
  };
  const home = (lease: Lease): Lease => origins.get(lease) ?? lease;
  const allHome = (settlements: readonly Settlement[]): readonly Settlement[] =>
    settlements.map((settlement) => ({ ...settlement, lease: home(settlement.lease) }));
  const altered = (claim: Claim, max: number): Claim => ({
    ...claim,
    leases: alter(claim.leases, keep, max),
  });
  const { settleAndClaim } = backend;
  return override(backend, {
    claim: async (request) => altered(await backend.claim(request), request.max),
    renew: (leases, ms, options) => backend.renew(leases.map(home), ms, options),
    settle: (settlements, options) => backend.settle(allHome(settlements), options),
    ...(settleAndClaim && {
      settleAndClaim: async (settlements, request) => {
        const { outcomes, claim } = await settleAndClaim(allHome(settlements), request);
        return { outcomes, claim: altered(claim, request.max) };
      },
    }),
  });
}

/** Replaces facts of every lease that is handed out. */
export function alterLeases(backend: Backend, change: (lease: Lease) => Partial<Lease>): Backend {
  return alterClaims(backend, (leases, keep) =>
    leases.map((lease) => keep({ ...lease, ...change(lease) }, lease)),
  );
}

/** Replaces settlements on their way to the store, in both calls that take them. */
export function alterSettlements(backend: Backend, change: (settlement: Settlement) => Settlement): Backend {
  const { settleAndClaim } = backend;
  return override(backend, {
    settle: (settlements, options) => backend.settle(settlements.map(change), options),
    ...(settleAndClaim && {
      settleAndClaim: (settlements, request) => settleAndClaim(settlements.map(change), request),
    }),
  });
}

/** Replaces jobs on their way to the store. */
export function alterJobs(backend: Backend, change: (job: NewJob) => NewJob): Backend {
  return override(backend, { enqueue: (jobs, options) => backend.enqueue(jobs.map(change), options) });
}
