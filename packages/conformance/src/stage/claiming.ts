import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Backend, Lease } from '@surety/core/contract';
import type { ClaimOptions, Context } from '../context.ts';
import type { Waiting } from './waiting.ts';

/** The part of the context that claims. */
export type Claiming = Pick<Context, 'claim' | 'claimOne' | 'claimAll' | 'claimNone'>;

/** Empty answers asked for before "no job" is believed; a job handed out wrongly shows at the first. */
const EMPTY_CLAIMS = 3;

export function claimingOf(
  waiting: Waiting,
  defaults: {
    readonly leaseMs: number;
    readonly timeoutMs: number;
    readonly maxItems: number;
    readonly patienceMs: number;
  },
): Claiming {
  const claim: Claiming['claim'] = async (backend, queue, options = {}) => {
    const { withinMs: _, ...given } = options;
    const request = {
      queue,
      max: 1,
      leaseMs: defaults.leaseMs,
      waitMs: 0,
      nonce: randomUUID(),
      signal: null,
    };
    const answer = await backend.claim({ ...request, timeoutMs: defaults.timeoutMs, ...given });
    assert.ok(
      answer.leases.length <= (given.max ?? 1),
      `claim(max: ${given.max ?? 1}) returned ${answer.leases.length}`,
    );
    return answer;
  };

  async function claimAll(
    backend: Backend,
    queue: string,
    count: number,
    options: ClaimOptions,
  ): Promise<readonly Lease[]> {
    const leases: Lease[] = [];
    await waiting
      .eventually(
        async () => {
          while (leases.length < count) {
            const max = Math.min(
              options.max ?? count - leases.length,
              count - leases.length,
              defaults.maxItems,
            );
            const answer = await claim(backend, queue, { ...options, max });
            if (answer.leases.length === 0) return false;
            leases.push(...answer.leases);
          }
          return true;
        },
        { what: `claim ${count} of ${queue}`, withinMs: options.withinMs ?? defaults.patienceMs },
      )
      .catch((error: unknown) => {
        throw new Error(`Claimed ${leases.length} of the ${count} jobs that should be ready.`, {
          cause: error,
        });
      });
    return leases;
  }

  return {
    claim,
    claimAll: (backend, queue, count, options = {}) => claimAll(backend, queue, count, options),
    async claimOne(backend, queue, options = {}) {
      const [lease] = await claimAll(backend, queue, 1, options);
      assert.ok(lease);
      return lease;
    },
    async claimNone(backend, queue, why) {
      for (let asked = 0; asked < EMPTY_CLAIMS; asked++) {
        const { leases } = await claim(backend, queue);
        assert.deepEqual(
          leases.map((lease) => lease.id),
          [],
          `a job was handed out although ${why}`,
        );
      }
    },
  };
}
