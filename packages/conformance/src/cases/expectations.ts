import assert from 'node:assert/strict';
import type { Backend, Capabilities, CountKind, DeadLetter, QueueCounts } from '@surety/core/contract';
import type { Context } from '../context.ts';

export function idsOf(items: readonly { readonly id: string }[]): readonly string[] {
  return items.map(({ id }) => id);
}

/** Every id at least once, and nothing else; not one twice where a move is atomic. */
export function everyOnce(
  expected: readonly string[],
  seen: readonly string[],
  capabilities: Capabilities,
): void {
  const times = new Map<string, number>();
  for (const id of seen) times.set(id, (times.get(id) ?? 0) + 1);
  const missing = expected.filter((id) => !times.has(id));
  assert.deepEqual(missing, [], `${missing.length} of ${expected.length} jobs are lost`);
  const strange = [...times.keys()].filter((id) => !expected.includes(id));
  assert.deepEqual(strange, [], 'jobs that nobody enqueued here');
  if (capabilities.moves !== 'atomic') return;
  const twice = [...times].filter(([, n]) => n > 1).map(([id]) => id);
  assert.deepEqual(twice, [], `${twice.length} jobs came more than once`);
}

/** A figure against its kind: approximate ones are not judged, bounds only as bounds. */
export function fits(kind: CountKind, value: number | null, expected: number): boolean {
  if (kind === 'none') return value === null;
  if (value === null) return false;
  if (kind === 'lower-bound') return value <= expected;
  if (kind === 'upper-bound') return value >= expected;
  return kind === 'approximate' || value === expected;
}

/** Waits until the counts of a queue are as given; at once where they are exact. */
export async function expectCounts(
  ctx: Context,
  backend: Backend,
  queue: string,
  expected: Partial<Record<'ready' | 'scheduled' | 'leased' | 'dead', number>>,
): Promise<QueueCounts> {
  const counts = await backend.counts(queue, ctx.call);
  for (const state of ['ready', 'scheduled', 'leased', 'dead'] as const) {
    const want = expected[state];
    assert.equal(counts[state].kind, ctx.capabilities.counts[state], `kind of the count ${state}`);
    if (want === undefined) continue;
    const { kind, value } = counts[state];
    assert.ok(fits(kind, value, want), `${state} is ${value} (${kind}), expected ${want}`);
  }
  return counts;
}

/** The dead letters of a queue, over all pages. */
export async function allDead(ctx: Context, backend: Backend, queue: string): Promise<readonly DeadLetter[]> {
  const entries: DeadLetter[] = [];
  let cursor: string | null = null;
  do {
    const page = await backend.deadLetters.list({ queue, limit: 100, cursor, type: null }, ctx.call);
    entries.push(...page.entries);
    cursor = page.cursor;
  } while (cursor !== null);
  return entries;
}

/** The dead letter of an id; it may appear a moment late where the store lists lazily. */
export async function deadLetter(
  ctx: Context,
  backend: Backend,
  queue: string,
  id: string,
): Promise<DeadLetter> {
  return ctx.eventually(() => backend.deadLetters.show(queue, id, ctx.call), {
    what: `a dead letter ${id}`,
    withinMs: 5000,
  });
}

/** The code of the error that the work must reject with. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.notEqual(error, null, 'the call should have been refused');
  const code = (error as { readonly code?: unknown }).code;
  assert.ok(typeof code === 'string', `an error without a code: ${String(error)}`);
  return code;
}

/** Claims a job and lets its lease end. */
export async function lose(ctx: Context, backend: Backend, queue: string): Promise<void> {
  await ctx.claimOne(backend, queue, { leaseMs: ctx.shortLeaseMs });
  await ctx.passLease(ctx.shortLeaseMs);
}

/**
 * An outcome that says nothing and fits anything. A broker that moves by copy may lose an answer at any time; where moves are
 * atomic an `unknown` needs a fault.
 */
export function isUntold(ctx: Context, outcome: string): boolean {
  return outcome === 'unknown' && ctx.capabilities.moves === 'copy';
}

/** Outcomes against what they must be, in a case without faults of its own. */
export function expectStatuses(
  ctx: Context,
  outcomes: readonly { readonly status: string }[],
  expected: readonly string[],
  message?: string,
): void {
  const told = outcomes.map(({ status }, index) => (isUntold(ctx, status) ? expected[index] : status));
  assert.deepEqual(told, expected, message);
}
