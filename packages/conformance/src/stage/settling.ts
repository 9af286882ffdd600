import assert from 'node:assert/strict';
import type { Backend, CallOptions, Lease, Settlement, SettleOutcome } from '@surety/core/contract';
import { type Context, jobError } from '../context.ts';

/** The part of the context that settles. */
export type Settling = Pick<
  Context,
  'settle' | 'settleOnce' | 'complete' | 'retry' | 'bury' | 'release' | 'expectLost'
>;

/** An `unknown` may be settled again; more than this many in a row is a store that is away. */
const TRIES = 10;

export function settlingOf(call: CallOptions, maxItems: number): Settling {
  const settleOnce = async (
    backend: Backend,
    settlements: readonly Settlement[],
  ): Promise<readonly SettleOutcome[]> => {
    const outcomes = await backend.settle(settlements, call);
    assert.equal(outcomes.length, settlements.length, 'one outcome for each settlement');
    return outcomes;
  };

  async function settle(backend: Backend, settlements: readonly Settlement[]): Promise<void> {
    for (let from = 0; from < settlements.length; from += maxItems) {
      await settleBatch(backend, settlements.slice(from, from + maxItems));
    }
  }

  async function settleBatch(backend: Backend, settlements: readonly Settlement[]): Promise<void> {
    let open = settlements;
    for (let tries = 0; open.length > 0 && tries < TRIES; tries++) {
      const outcomes = await settleOnce(backend, open);
      const again = open.filter((_, index) => outcomes[index]?.status === 'unknown');
      // After an unknown answer lease-lost may mean that the first try was done: that is the way home.
      const lost = outcomes.filter((outcome) => outcome.status === 'lease-lost').length;
      if (tries === 0) assert.equal(lost, 0, `${lost} of ${open.length} live leases answered lease-lost`);
      open = again;
    }
    assert.equal(open.length, 0, 'settlements that stayed unknown');
  }

  return {
    settle,
    settleOnce,
    complete: (backend, ...leases) =>
      settle(
        backend,
        leases.map((lease) => completion(lease)),
      ),
    retry: (backend, lease, delayMs = 0, error = jobError(undefined, { attempt: lease.attempt })) =>
      settle(backend, [{ kind: 'retry', lease, delayMs, error }]),
    bury: (backend, lease, error = jobError(undefined, { attempt: lease.attempt })) =>
      settle(backend, [{ kind: 'bury', lease, error }]),
    release: (backend, lease, reason = 'unstarted', delayMs = 0) =>
      settle(backend, [{ kind: 'release', lease, delayMs, reason }]),
    async expectLost(backend, lease) {
      for (const settlement of everySettlement(lease)) {
        let [outcome] = await settleOnce(backend, [settlement]);
        for (let tries = 0; outcome?.status === 'unknown' && tries < TRIES; tries++) {
          [outcome] = await settleOnce(backend, [settlement]);
        }
        assert.equal(outcome?.status, 'lease-lost', `${settlement.kind} under a token that holds no more`);
      }
      const [renewed] = await backend.renew([lease], Math.max(1000, backend.capabilities.lease.minMs), call);
      assert.equal(renewed?.status, 'lease-lost', 'renew under a token that holds no more');
    },
  };
}

/** The plain end of a job. */
export function completion(lease: Lease): Settlement {
  return { kind: 'complete', lease, outcome: 'completed' };
}

/** One settlement of each kind for the same lease. */
export function everySettlement(lease: Lease): readonly Settlement[] {
  return [
    completion(lease),
    { kind: 'retry', lease, delayMs: 0, error: jobError() },
    { kind: 'bury', lease, error: jobError() },
    { kind: 'release', lease, delayMs: 0, reason: 'unstarted' },
  ];
}
