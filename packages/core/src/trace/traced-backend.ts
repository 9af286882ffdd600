import type {
  Backend,
  Claim,
  ClaimRequest,
  DeadSelection,
  EnqueueOutcome,
  Lease,
  NewJob,
  Notice,
  Settlement,
  SettleOutcome,
} from '../contract/index.ts';
import { isSuretyError } from '../errors/index.ts';
import { messageOf } from '../errors/message-of.ts';
import { hostTime } from './host-clock.ts';
import type { Trace } from './trace-file.ts';
import type { AnswerKind, CallError, ClaimedLease, EnqueuedJob, TracedSettlement } from './trace-lines.ts';

/** Where a lease may tell which copy of its job it holds: a string, where the store can have several copies. */
const COPY: unique symbol = Symbol.for('surety.copy') as never;
/** The number of each lease that this process received, and the backends whose facts are in a trace already. */
const leaseNumbers = new WeakMap<Lease, number>();
const described = new WeakMap<Trace, WeakSet<Backend>>();

/**
 * The same backend, with every call that moves a job in the trace: a line before it reaches the store, a line after its answer. For
 * code that calls a backend by itself; `createWorker` and `createClient` take the option `trace`. Where the trace cannot be
 * written, the call is refused before it is made.
 */
export function traced<B extends Backend>(backend: B, trace: Trace): B {
  const members: Partial<Backend> = {
    enqueue: (jobs, options) =>
      tracedEnqueue(backend, trace, jobs, false, () => backend.enqueue(jobs, options)),
    claim: (request) => tracedClaim(backend, trace, request),
    renew: async (leases, leaseMs, options) => {
      const call = trace.next();
      trace.record({ kind: 'renew', call, leaseMs, leases: leases.map(leaseNumber) }, 'before');
      const outcomes = await answered(trace, 'renewed', call, backend.renew(leases, leaseMs, options));
      const left = outcomes.map((one) => (one.status === 'renewed' ? Math.round(one.leaseMs) : null));
      trace.record({ kind: 'renewed', call, outcomes: left }, 'after');
      return outcomes;
    },
    settle: async (settlements, options) => {
      const call = beforeSettle(trace, settlements);
      const outcomes = await answered(trace, 'settled', call, backend.settle(settlements, options));
      afterSettle(trace, call, settlements, outcomes);
      return outcomes;
    },
    open: (options) =>
      backend.open({
        ...options,
        notify: (notice) => {
          recordNotice(trace, notice);
          options.notify(notice);
        },
      }),
    ...(backend.settleAndClaim === undefined ? {} : { settleAndClaim: bothTraced(backend, trace) }),
    ...(backend.transactional === undefined ? {} : { transactional: transactionalTraced(backend, trace) }),
    deadLetters: {
      list: (request, options) => backend.deadLetters.list(request, options),
      show: (queue, id, options) => backend.deadLetters.show(queue, id, options),
      redrive: (queue, selection, options) =>
        tracedMove(trace, 'redrive', 'redriven', queue, selection, () =>
          backend.deadLetters.redrive(queue, selection, options),
        ),
      discard: (queue, selection, options) =>
        tracedMove(trace, 'discard', 'discarded', queue, selection, () =>
          backend.deadLetters.discard(queue, selection, options),
        ),
    },
  };
  return overlay(backend, members);
}

/** The number of a lease in the traces of this process; 0: it was not received through one. */
export function leaseNumber(lease: Lease): number {
  return leaseNumbers.get(lease) ?? 0;
}

/** What an adapter tells by itself explains what is seen later. */
export function recordNotice(trace: Trace, notice: Notice): void {
  const text =
    'reason' in notice
      ? notice.reason
      : 'message' in notice
        ? `${notice.code} ${notice.message}`
        : notice.queue;
  trace.record({ kind: 'notice', notice: notice.kind, text }, 'after');
}

/** A proxy over an empty target, because a backend may be frozen and may have private state. */
function overlay<B extends Backend>(backend: B, members: Partial<Backend>): B {
  return new Proxy({} as B, {
    get(_, key) {
      if (Object.hasOwn(members, key)) return members[key as keyof Backend];
      const value: unknown = Reflect.get(backend, key, backend);
      return typeof value === 'function' ? (value.bind(backend) as unknown) : value;
    },
    has: (_, key) => Reflect.has(backend, key),
  });
}

async function tracedEnqueue(
  backend: Backend,
  trace: Trace,
  jobs: readonly NewJob[],
  tx: boolean,
  send: () => Promise<readonly EnqueueOutcome[]>,
): Promise<readonly EnqueueOutcome[]> {
  describeOnce(backend, trace);
  const call = trace.next();
  trace.record({ kind: 'enqueue', call, ...(tx ? { tx } : {}), jobs: jobs.map(enqueued) }, 'before');
  const outcomes = await answered(trace, 'enqueued', call, send());
  const told = outcomes.map((one) => (one.status === 'duplicate' ? `duplicate:${one.of}` : one.status));
  trace.record({ kind: 'enqueued', call, outcomes: told }, 'after');
  return outcomes;
}

async function tracedClaim(backend: Backend, trace: Trace, request: ClaimRequest): Promise<Claim> {
  describeOnce(backend, trace);
  const call = beforeClaim(trace, request);
  const claim = await answered(trace, 'claimed', call, backend.claim(request));
  afterClaim(trace, call, claim);
  return claim;
}

function bothTraced(backend: Backend, trace: Trace): NonNullable<Backend['settleAndClaim']> {
  return async (settlements, request) => {
    const settling = beforeSettle(trace, settlements);
    const claiming = beforeClaim(trace, request);
    const both = backend.settleAndClaim?.(settlements, request) as ReturnType<
      NonNullable<Backend['settleAndClaim']>
    >;
    const { outcomes, claim } = await both.catch((error: unknown) => {
      recordError(trace, 'settled', settling, error);
      recordError(trace, 'claimed', claiming, error);
      throw error;
    });
    afterSettle(trace, settling, settlements, outcomes);
    afterClaim(trace, claiming, claim);
    return { outcomes, claim };
  };
}

function transactionalTraced(backend: Backend, trace: Trace): NonNullable<Backend['transactional']> {
  return {
    enqueue: (tx, jobs, options) =>
      tracedEnqueue(backend, trace, jobs, true, async () => {
        const outcomes = await backend.transactional?.enqueue(tx, jobs, options);
        return outcomes ?? [];
      }),
  };
}

async function tracedMove<Outcome extends { readonly id: string; readonly status: string }>(
  trace: Trace,
  before: 'redrive' | 'discard',
  after: 'redriven' | 'discarded',
  queue: string,
  selection: DeadSelection,
  send: () => Promise<readonly Outcome[]>,
): Promise<readonly Outcome[]> {
  const call = trace.next();
  trace.record({ kind: before, call, queue, ...selection }, 'before');
  const outcomes = await answered(trace, after, call, send());
  trace.record({ kind: after, call, outcomes: outcomes.map(({ id, status }) => ({ id, status })) }, 'after');
  return outcomes;
}

async function answered<T>(trace: Trace, kind: AnswerKind, call: number, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    recordError(trace, kind, call, error);
    throw error;
  }
}

function recordError(trace: Trace, kind: AnswerKind, call: number, error: unknown): void {
  trace.record({ kind, call, error: errorOf(error) }, 'after');
}

function errorOf(error: unknown): CallError {
  if (isSuretyError(error)) return { code: error.code, retryable: error.retryable };
  return { code: messageOf(error).slice(0, 80), retryable: 'unknown' };
}

function beforeClaim(trace: Trace, { queue, max, leaseMs, nonce }: ClaimRequest): number {
  const call = trace.next();
  trace.record({ kind: 'claim', call, queue, max, leaseMs, nonce }, 'before');
  return call;
}

function afterClaim(trace: Trace, call: number, { paused, leasedAt, leases }: Claim): void {
  const at = hostTime(leasedAt);
  const told = leases.map((lease) => claimedLease(trace, lease));
  trace.record({ kind: 'claimed', call, ...(paused ? { paused } : {}), leasedAt: at, leases: told }, 'after');
}

function beforeSettle(trace: Trace, settlements: readonly Settlement[]): number {
  const call = trace.next();
  trace.record({ kind: 'settle', call, settlements: settlements.map(settlementOf) }, 'before');
  return call;
}

function afterSettle(
  trace: Trace,
  call: number,
  settlements: readonly Settlement[],
  outcomes: readonly SettleOutcome[],
): void {
  trace.record({ kind: 'settled', call, outcomes: outcomes.map(({ status }) => status) }, 'after');
  for (const [index, settlement] of settlements.entries()) {
    if (settlement.kind !== 'bury' || outcomes[index]?.status !== 'settled') continue;
    const { lease, error } = settlement;
    trace.record({ kind: 'dead', lease: leaseNumber(lease), id: lease.id, code: error.code }, 'after');
  }
}

function claimedLease(trace: Trace, lease: Lease): ClaimedLease {
  // The same object again is the same lease, whoever received it.
  const number = leaseNumbers.get(lease) ?? trace.next();
  leaseNumbers.set(lease, number);
  const { id, type, token, attempt, lostClaims, redrives, maxAttempts, waitedMs } = lease;
  const copy = (lease as { readonly [COPY]?: string })[COPY];
  return {
    lease: number,
    id,
    type,
    nonce: token.nonce,
    fence: token.fence,
    ...(copy === undefined ? {} : { copy }),
    attempt,
    ...(lostClaims === 0 ? {} : { lostClaims }),
    ...(redrives === 0 ? {} : { redrives }),
    ...(maxAttempts === null ? {} : { maxAttempts }),
    waitedMs: Math.round(waitedMs),
  };
}

function enqueued({ id, queue, type, delayMs, maxAttempts }: NewJob): EnqueuedJob {
  const extras = { ...(delayMs === 0 ? {} : { delayMs }), ...(maxAttempts === null ? {} : { maxAttempts }) };
  return { id, queue, type, ...extras };
}

function settlementOf(settlement: Settlement): TracedSettlement {
  const { id } = settlement.lease;
  const head = { lease: leaseNumber(settlement.lease), id, do: settlement.kind };
  switch (settlement.kind) {
    case 'complete':
      return settlement.outcome === 'cancelled' ? { ...head, outcome: 'cancelled' } : head;
    case 'retry':
      return { ...head, delayMs: settlement.delayMs, code: settlement.error.code };
    case 'bury':
      return { ...head, code: settlement.error.code };
    case 'release':
      return { ...head, delayMs: settlement.delayMs, reason: settlement.reason };
  }
}

/** What the store promises, once per backend: some of it is known only after it was opened. */
function describeOnce(backend: Backend, trace: Trace): void {
  const known = described.get(trace) ?? new WeakSet();
  described.set(trace, known);
  if (known.has(backend)) return;
  known.add(backend);
  const { moves, attempts, fence, lease } = backend.capabilities;
  const { endsBy, reclaimBoundMs, marginMs } = lease;
  trace.record(
    { kind: 'backend', name: backend.name, moves, attempts, fence, endsBy, reclaimBoundMs, marginMs },
    'before',
  );
}
