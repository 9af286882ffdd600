import {
  type Backend,
  type Capabilities,
  type Claim,
  type ClaimRequest,
  CONTRACT_VERSION,
  type Lease,
  type QueueCounts,
  type RenewOutcome,
  type Settlement,
  type SettleOutcome,
} from '@surety/core/contract';

/** What a test may replace; each is asked instead of the plain answer and may return, reject, throw or hang. */
export interface Script {
  open?: () => Promise<void>;
  close?: () => Promise<void>;
  claim?: (request: ClaimRequest, plain: () => Promise<Claim>) => unknown;
  renew?: (leases: readonly Lease[], plain: () => readonly RenewOutcome[]) => unknown;
  settle?: (settlements: readonly Settlement[], plain: () => readonly SettleOutcome[]) => unknown;
  both?: (
    settlements: readonly Settlement[],
    request: ClaimRequest,
    plain: () => { outcomes: readonly SettleOutcome[]; claim: Claim },
  ) => unknown;
  counts?: (queue: string) => Promise<QueueCounts>;
}

/** A backend whose answers a test writes. What it is not told, it does plainly: hands out what was given, settles all. */
export interface ScriptedBackend extends Backend {
  readonly script: Script;
  /** All calls, oldest first. */
  readonly claims: ClaimRequest[];
  readonly renewals: (readonly Lease[])[];
  /** All settlements that were sent, in order. */
  readonly settled: Settlement[];
  /** `claim`, `renew`, `settle`, `both`, in the order of the calls. */
  readonly verbs: string[];
  opened: number;
  closed: number;
  paused: boolean;
  /** Claims that wait now. */
  readonly waiting: number;
  give(...leases: Lease[]): void;
  readonly left: number;
}

const CAPABILITIES: Capabilities = {
  moves: 'atomic',
  durability: 'memory',
  retentionMs: null,
  delay: { maxMs: 366 * 86_400_000, granularityMs: 1 },
  lease: { minMs: 10, maxMs: 366 * 86_400_000, marginMs: 0, endsBy: 'time', reclaimBoundMs: 50 },
  attempts: 'exact',
  fence: 'monotonic',
  idempotentEnqueue: 'while-present',
  claimReplay: false,
  dedupe: 'none',
  priority: 'none',
  maxDepth: 'none',
  counts: { ready: 'exact', scheduled: 'exact', leased: 'exact', dead: 'exact' },
  oldestReadyAge: 'exact',
  deadLetters: { order: 'none', cursor: false, byId: 'scan', retentionMs: null },
  pacing: { boundMs: 0 },
  payload: { maxBytes: 1024 * 1024 },
  batch: { maxItems: 1000, maxBytes: 16 * 1024 * 1024 },
  sessions: 'one-process',
  lookup: false,
  transactional: false,
  stopBoundMs: 1000,
  idleOperationsPerMinute: 60,
};

let serial = 0;

/** A lease as a first claim brings it; each has an id of its own. */
export function lease(facts: Partial<Lease> = {}): Lease {
  serial += 1;
  const id = facts.id ?? `00000000-0000-7000-8000-${String(serial).padStart(12, '0')}`;
  return {
    id,
    queue: 'default',
    type: 'test.job',
    headers: {},
    idempotencyKey: id,
    maxAttempts: null,
    attempt: 1,
    deliveries: 1,
    lostClaims: 0,
    interruptions: 0,
    redrives: 0,
    token: { nonce: 'nonce', fence: serial },
    payload: { value: { n: serial } },
    lossBackedOff: false,
    unknownTypeForMs: null,
    waitedMs: 0,
    expiresInMs: null,
    ...facts,
  };
}

/** Several leases alike. */
export function leases(count: number, facts: Partial<Lease> = {}): Lease[] {
  return Array.from({ length: count }, () => lease(facts));
}

/** Makes a scripted backend. `both`: it has `settleAndClaim`. */
export function scriptedBackend(
  options: { capabilities?: Partial<Capabilities>; both?: boolean; script?: Script } = {},
): ScriptedBackend {
  const script: Script = { ...options.script };
  const ready: Lease[] = [];
  const waiters = new Set<() => void>();
  const unused = (): never => {
    throw new Error('the scripted backend does not do this');
  };
  const take = (request: ClaimRequest): Claim => {
    const found: Lease[] = [];
    const leasedAt = performance.now();
    if (backend.paused) return { leases: [], paused: true, leasedAt };
    for (let at = 0; at < ready.length && found.length < request.max; ) {
      const next = ready[at] as Lease;
      if (next.queue === request.queue) {
        found.push(next);
        ready.splice(at, 1);
      } else at += 1;
    }
    return { leases: found, paused: false, leasedAt };
  };
  const claimPlainly = async (request: ClaimRequest): Promise<Claim> => {
    const first = take(request);
    if (first.leases.length > 0 || first.paused || request.waitMs === 0 || request.signal?.aborted)
      return first;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (!backend.paused && !ready.some(({ queue }) => queue === request.queue)) return;
        end();
      };
      const end = (): void => {
        waiters.delete(look);
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(end, request.waitMs);
      waiters.add(look);
      request.signal?.addEventListener('abort', end, { once: true });
    });
    return request.signal?.aborted
      ? { leases: [], paused: false, leasedAt: performance.now() }
      : take(request);
  };
  const settlePlainly = (settlements: readonly Settlement[]): SettleOutcome[] =>
    settlements.map(() => ({ status: 'settled' }));
  let paused = false;

  const backend: ScriptedBackend = {
    name: 'scripted',
    contractVersion: CONTRACT_VERSION,
    capabilities: { ...CAPABILITIES, ...options.capabilities },
    script,
    claims: [],
    renewals: [],
    settled: [],
    verbs: [],
    opened: 0,
    closed: 0,
    get paused() {
      return paused;
    },
    set paused(value) {
      paused = value;
      for (const look of Array.from(waiters)) look();
    },
    get waiting() {
      return waiters.size;
    },
    get left() {
      return ready.length;
    },
    give(...given) {
      ready.push(...given);
      for (const look of Array.from(waiters)) look();
    },
    async open() {
      backend.opened += 1;
      await script.open?.();
    },
    async close() {
      backend.closed += 1;
      await script.close?.();
    },
    health: unused,
    enqueue: unused,
    claim(request) {
      backend.claims.push(request);
      backend.verbs.push('claim');
      const plain = (): Promise<Claim> => claimPlainly(request);
      return (script.claim === undefined ? plain() : script.claim(request, plain)) as Promise<Claim>;
    },
    renew(held, leaseMs) {
      backend.renewals.push(held);
      backend.verbs.push('renew');
      const plain = (): RenewOutcome[] => held.map(() => ({ status: 'renewed', leaseMs }));
      const answer = script.renew === undefined ? plain() : script.renew(held, plain);
      return Promise.resolve(answer as readonly RenewOutcome[]);
    },
    settle(settlements) {
      backend.settled.push(...settlements);
      backend.verbs.push('settle');
      const plain = (): SettleOutcome[] => settlePlainly(settlements);
      const answer = script.settle === undefined ? plain() : script.settle(settlements, plain);
      return Promise.resolve(answer as readonly SettleOutcome[]);
    },
    ...(options.both === true
      ? {
          settleAndClaim(settlements: readonly Settlement[], request: ClaimRequest) {
            backend.settled.push(...settlements);
            backend.claims.push(request);
            backend.verbs.push('both');
            const plain = () => ({ outcomes: settlePlainly(settlements), claim: take(request) });
            const answer = script.both === undefined ? plain() : script.both(settlements, request, plain);
            return Promise.resolve(answer as { outcomes: readonly SettleOutcome[]; claim: Claim });
          },
        }
      : {}),
    counts: (queue) => (script.counts === undefined ? unused() : script.counts(queue)),
    queues: unused,
    deadLetters: { list: unused, show: unused, redrive: unused, discard: unused },
    pacing: { pause: unused, resume: unused, state: unused },
  };
  return backend;
}
