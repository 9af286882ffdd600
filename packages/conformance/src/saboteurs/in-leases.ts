import { randomUUID } from 'node:crypto';
import type { Lease, SettleOutcome } from '@surety/core/contract';
import { override } from '../stage/override.ts';
import { alterClaims, alterLeases, alterSettlements, each, type Saboteur } from './saboteur.ts';

/** Bugs around claims, leases and their ends. */
export const leaseSaboteurs: readonly Saboteur[] = [
  {
    id: 'forgets-token',
    bug: 'a settlement goes by the id of the job, whoever holds it now',
    mustFail: ['G2.1/stale-token-settle', 'G2.5/late-worker'],
    over: 'memory',
    plant() {
      const current = new Map<string, Lease>();
      return (backend) =>
        alterSettlements(
          alterClaims(backend, (leases) => {
            for (const lease of leases) current.set(lease.id, lease);
            return leases;
          }),
          (settlement) => ({ ...settlement, lease: current.get(settlement.lease.id) ?? settlement.lease }),
        );
    },
  },
  {
    id: 'accepts-late-settle',
    bug: 'a settlement that comes too late is answered with settled',
    mustFail: [
      'G2.4/lost-before-anyone-claims',
      'G2.8/first-counts',
      'G2.1/settled-twice',
      'G4.4/late-release-refunds-nothing',
    ],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        async settle(settlements, options) {
          const outcomes = await backend.settle(settlements, options);
          return outcomes.map(
            (outcome): SettleOutcome => (outcome.status === 'lease-lost' ? { status: 'settled' } : outcome),
          );
        },
      }),
    ),
  },
  {
    id: 'renews-after-expiry',
    bug: 'a renewal that comes too late is answered with renewed',
    mustFail: ['G2.4/lost-before-anyone-claims', 'G2.4/among-the-living'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        async renew(leases, leaseMs, options) {
          await backend.renew(leases, leaseMs, options);
          return leases.map(() => ({ status: 'renewed' as const, leaseMs }));
        },
      }),
    ),
  },
  {
    id: 'adds-renewals',
    bug: 'a renewal is added to what is left of the lease',
    mustFail: ['G2.3/counts-from-now'],
    over: 'memory',
    plant() {
      const sums = new Map<string, number>();
      return (backend) =>
        override(backend, {
          async renew(leases, leaseMs, options) {
            const [first] = leases;
            const sum = (sums.get(first?.token.nonce ?? '') ?? leaseMs) + leaseMs;
            sums.set(first?.token.nonce ?? '', sum);
            const outcomes = await backend.renew(leases, sum, options);
            return outcomes.map((outcome) =>
              outcome.status === 'renewed' ? { ...outcome, leaseMs } : outcome,
            );
          },
        });
    },
  },
  {
    id: 'forgets-renewals',
    bug: 'a renewal is answered with renewed and does nothing',
    mustFail: ['G2.3/keeps-alive'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        renew: async (leases, leaseMs) => leases.map(() => ({ status: 'renewed' as const, leaseMs })),
      }),
    ),
  },
  {
    id: 'hands-to-two',
    bug: 'a job that was just handed out is handed to a second rival too',
    mustFail: ['G2.2/eight-for-one', 'G2.2/eight-drain'],
    over: 'memory',
    plant() {
      let last: { readonly lease: Lease; readonly by: object } | null = null;
      return (backend) =>
        alterClaims(backend, (leases, _, max) => {
          if (last !== null && last.by !== backend && leases.length < max) {
            const doubled = [...leases, last.lease];
            last = null;
            return doubled;
          }
          const [lease] = leases;
          if (lease !== undefined) last = { lease, by: backend };
          return leases;
        });
    },
  },
  {
    id: 'more-than-max',
    bug: 'a claim returns one job more than it was asked for',
    mustFail: ['G2.2/never-more-than-asked'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, { claim: (request) => backend.claim({ ...request, max: request.max + 1 }) }),
    ),
  },
  {
    id: 'pops-on-claim',
    bug: 'a claimed job is removed from the store at once and lives in the memory of its worker',
    mustFail: ['G2.10/within-bound', 'G4.3/lost-claims'],
    over: 'memory',
    plant: () => popping(),
  },
  {
    id: 'pops-on-claim-in-another-process',
    bug: 'the same bug, in a worker that is killed between claim and settle',
    mustFail: ['G2.10/killed-holder', 'G2.5/frozen-process'],
    over: 'sqlite',
    plant: () => popping(),
  },
  {
    id: 'replays-as-new-claim',
    bug: 'a claim repeated with its nonce takes other jobs',
    mustFail: ['G2.6/replay'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, { claim: (request) => backend.claim({ ...request, nonce: randomUUID() }) }),
    ),
  },
  {
    id: 'fence-stands-still',
    bug: 'the fence of a job is the same for every claim',
    mustFail: ['G2.7/grows'],
    over: 'memory',
    plant: each((backend) => alterLeases(backend, ({ token }) => ({ token: { ...token, fence: 1 } }))),
  },
  {
    id: 'close-releases',
    bug: 'closing a backend hands its leases back while their handlers still run',
    mustFail: ['G2.10/close-keeps-leases'],
    over: 'memory',
    plant: each((backend) => {
      const held = new Set<Lease>();
      return override(
        alterClaims(backend, (leases) => {
          for (const lease of leases) held.add(lease);
          return leases;
        }),
        {
          async close(options) {
            const settlements = [...held].map(
              (lease) => ({ kind: 'release', lease, delayMs: 0, reason: 'unstarted' }) as const,
            );
            held.clear();
            if (settlements.length > 0)
              await backend.settle(settlements, { timeoutMs: 1000 }).catch(() => []);
            await backend.close(options);
          },
        },
      );
    }),
  },
  {
    id: 'ignores-abort',
    bug: 'a waiting claim does not listen to its signal',
    mustFail: ['G10.2/waiting-claim-aborted'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, { claim: (request) => backend.claim({ ...request, signal: null }) }),
    ),
  },
  {
    id: 'forgets-to-charge-loss',
    bug: 'a lost claim is not charged as an attempt',
    mustFail: ['G4.3/lost-claims', 'G2.10/within-bound', 'G4.5/past-the-limit'],
    over: 'memory',
    plant: each((backend) =>
      alterLeases(backend, ({ attempt, lostClaims }) => ({ attempt: Math.max(1, attempt - lostClaims) })),
    ),
  },
  {
    id: 'charges-release',
    bug: 'an orderly release is charged like a failure',
    mustFail: [
      'G4.4/many-releases',
      'G4.6/interruptions',
      'G4.4/charges-exactly',
      'G10.5/deploys-burn-nothing',
    ],
    over: 'memory',
    plant: each((backend) =>
      alterSettlements(backend, (settlement) =>
        settlement.kind === 'release'
          ? {
              kind: 'retry',
              lease: settlement.lease,
              delayMs: settlement.delayMs,
              error: { code: 'X', name: 'X', message: '', stack: null, attempt: 1 },
            }
          : settlement,
      ),
    ),
  },
  {
    id: 'retries-at-once',
    bug: 'the delay of a retry is forgotten',
    mustFail: ['G4.2/charged-and-later', 'G4.2/long-delays'],
    over: 'memory',
    plant: each((backend) =>
      alterSettlements(backend, (settlement) =>
        settlement.kind === 'retry' ? { ...settlement, delayMs: 0 } : settlement,
      ),
    ),
  },
  {
    id: 'forgets-unknown-type',
    bug: 'a release of an unknown type is stored like any other',
    mustFail: ['G4.7/age-of-unknown-type'],
    over: 'memory',
    plant: each((backend) =>
      alterSettlements(backend, (settlement) =>
        settlement.kind === 'release' && settlement.reason === 'unknown-type'
          ? { ...settlement, reason: 'unstarted' }
          : settlement,
      ),
    ),
  },
  {
    id: 'forgets-loss-backoff',
    bug: 'that a lost job was put back with backoff is not remembered',
    mustFail: ['G4.8/loss-backoff'],
    over: 'memory',
    plant: each((backend) => alterLeases(backend, () => ({ lossBackedOff: false }))),
  },
  {
    id: 'loses-headers-on-retry',
    bug: 'headers do not come back with the second attempt',
    mustFail: ['G3.1/key-over-all-roads'],
    over: 'memory',
    plant: each((backend) =>
      alterLeases(backend, ({ attempt, headers }) => ({ headers: attempt > 1 ? {} : headers })),
    ),
  },
  {
    id: 'new-key-per-delivery',
    bug: 'the idempotency key is made anew for every delivery',
    mustFail: ['G3.1/key-over-all-roads'],
    over: 'memory',
    plant: each((backend) =>
      alterLeases(backend, ({ deliveries, idempotencyKey }) => ({
        idempotencyKey: deliveries > 1 ? `${idempotencyKey}#${deliveries}` : idempotencyKey,
      })),
    ),
  },
];

/** Completes at the claim, and answers settled to whatever the worker says later. */
function popping(): (backend: Parameters<typeof override>[0]) => ReturnType<typeof override> {
  return (backend) =>
    override(backend, {
      async claim(request) {
        const claim = await backend.claim(request);
        await backend.settle(
          claim.leases.map((lease) => ({ kind: 'complete', lease, outcome: 'completed' })),
          { timeoutMs: request.timeoutMs },
        );
        return claim;
      },
      settle: async (settlements) => settlements.map(() => ({ status: 'settled' as const })),
    });
}
