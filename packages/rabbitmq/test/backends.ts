import { randomUUID } from 'node:crypto';
import type { Backend, Lease, NewJob, Notice } from '@surety/core/contract';
import { type RabbitmqOptions, rabbitmq } from '../src/index.ts';

/** The time limit of calls that meet no fault. */
export const CALL = { timeoutMs: 15_000 };

export function newJob(queue: string, overrides: Partial<NewJob> = {}): NewJob {
  const id = randomUUID();
  return {
    id,
    queue,
    type: 'task',
    payload: '{}',
    headers: {},
    idempotencyKey: id,
    delayMs: 0,
    expiresInMs: null,
    priority: 1,
    dedupe: null,
    maxAttempts: null,
    maxDepth: null,
    ...overrides,
  };
}

export function freshQueue(): string {
  return `q-${randomUUID().slice(0, 13)}`;
}

/** An opened backend that is closed with `await using`. */
export async function opened(
  options: RabbitmqOptions,
  notify: (notice: Notice) => void = () => undefined,
): Promise<Backend & AsyncDisposable> {
  const backend = rabbitmq(options);
  await backend.open({ ...CALL, notify });
  return Object.assign(backend, {
    [Symbol.asyncDispose]: () => backend.close({ graceMs: 3000 }),
  });
}

export async function accept(backend: Backend, jobs: readonly NewJob[]): Promise<void> {
  const outcomes = await backend.enqueue(jobs, CALL);
  const other = outcomes.find(({ status }) => status !== 'accepted');
  if (other !== undefined) throw new Error(`not accepted: ${JSON.stringify(other)}`);
}

/** One claim, as it is. */
export async function claim(
  backend: Backend,
  queue: string,
  options: {
    readonly max?: number;
    readonly waitMs?: number;
    readonly leaseMs?: number;
    readonly signal?: AbortSignal;
  } = {},
): Promise<readonly Lease[]> {
  const request = { queue, max: 1, leaseMs: 60_000, waitMs: 0, nonce: randomUUID(), signal: null, ...CALL };
  return (await backend.claim({ ...request, ...options })).leases;
}

/** Claims until so many came. */
export async function claimAll(
  backend: Backend,
  queue: string,
  count: number,
  waitMs = 500,
): Promise<readonly Lease[]> {
  const leases: Lease[] = [];
  const deadline = performance.now() + 20_000;
  while (leases.length < count) {
    const came = await claim(backend, queue, { max: count - leases.length, waitMs });
    leases.push(...came);
    if (performance.now() > deadline) throw new Error(`claimed ${leases.length} of ${count}`);
  }
  return leases;
}

export async function complete(backend: Backend, leases: readonly Lease[]): Promise<readonly string[]> {
  const outcomes = await backend.settle(
    leases.map((lease) => ({ kind: 'complete', lease, outcome: 'completed' })),
    CALL,
  );
  return outcomes.map(({ status }) => status);
}

/** Asks until the answer is truthy; fails after the time with what was waited for. */
export async function eventually<T>(what: string, probe: () => Promise<T>, withinMs = 15_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await probe();
    if (answer) return answer;
    if (performance.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
