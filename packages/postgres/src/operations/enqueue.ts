import type { EnqueueOutcome, NewJob } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import type { Attempt } from '../connection.ts';
import { type Context, failure } from '../context.ts';
import type { Call } from '../deadline.ts';
import { isDataError, sqlState } from '../native-errors.ts';
import { refusal } from '../new-job.ts';
import { noteDue } from '../queue-state.ts';
import { admit } from './admit.ts';
import { alikeValues, enqueueValues } from './enqueue-values.ts';

const UNIQUE_VIOLATION = '23505';

/** Sends one statement: on our own connections, or inside the caller's transaction. */
export type Send = (statement: string, values: readonly unknown[], call: Call) => Promise<Attempt>;

type Slot = EnqueueOutcome | null;

/** One enqueue on its way. */
interface Run {
  readonly context: Context;
  readonly jobs: readonly NewJob[];
  /** The answers so far, by place. */
  readonly slots: Slot[];
  readonly call: Call;
  readonly send: Send;
  /** A statement may fail and another be sent in its place: not so inside a transaction, which the failure would break. */
  readonly mayFail: boolean;
}

/** G1.1, G1.2, G1.3, G1.6, G3.2, G3.3, G7.3. Never throws for what one item can be told. */
export async function enqueue(
  context: Context,
  jobs: readonly NewJob[],
  call: Call,
  send: Send,
  { mayFail }: { readonly mayFail: boolean },
): Promise<readonly EnqueueOutcome[]> {
  const slots: Slot[] = jobs.map((job) => {
    const error = refusal(job);
    return error === null ? null : { status: 'rejected', id: job.id, error };
  });
  const first = new Map<string, number>();
  for (const [index, job] of jobs.entries())
    if (slots[index] === null && !first.has(job.id)) first.set(job.id, index);
  const unique = jobs.map((_, index) => index).filter((index) => first.get(jobs[index]?.id ?? '') === index);
  const admitted = await admit(context, jobs, unique, slots, call, send);
  await store({ context, jobs, slots, call, send, mayFail }, admitted);
  return jobs.map((job, index) => slots[index] ?? repeated(job, slots[first.get(job.id) ?? -1] ?? null));
}

/** A later item of the same id: the first was stored or is a duplicate, or its fate is shared. */
function repeated(job: NewJob, first: Slot): EnqueueOutcome {
  if (first === null || first.status === 'accepted') return { status: 'duplicate', id: job.id, of: job.id };
  return first;
}

/** Stores a group with one statement; a group that fails on data is halved until the item at fault stands alone. */
async function store(run: Run, group: readonly number[]): Promise<void> {
  if (group.length === 0) return;
  const { context, jobs, slots } = run;
  const batch = group.map((index) => jobs[index] as NewJob);
  const result = await sendBatch(run, batch);
  if (!result.ok) {
    if (isDataError(result.native) && group.length > 1) {
      const half = Math.ceil(group.length / 2);
      await store(run, group.slice(0, half));
      await store(run, group.slice(half));
      return;
    }
    for (const index of group) slots[index] = failed(jobs[index] as NewJob, result);
    return;
  }
  const row = result.rows[0] as { readonly stored: number; readonly stored_ids: readonly string[] | null };
  const stored = row.stored_ids === null ? null : new Set(row.stored_ids);
  const left: number[] = [];
  for (const index of group) {
    const { id, queue, delayMs } = jobs[index] as NewJob;
    if (stored !== null && !stored.has(id)) {
      left.push(index);
      continue;
    }
    slots[index] = { status: 'accepted', id };
    if (delayMs > 0) noteDue(context.queues.of(queue), delayMs);
    const { depth } = context.queues.of(queue);
    if (depth !== null) depth.added += 1;
  }
  await explain(run, left);
}

/** As new jobs where that may fail and none has a key; only where an id turns out to be stored already as what may be repetitions. */
async function sendBatch(run: Run, batch: readonly NewJob[]): Promise<Attempt> {
  const { context, mayFail } = run;
  const { sql } = context;
  if (batch.some(({ dedupe }) => dedupe !== null))
    return sendQuietly(run, sql.enqueueDeduped, (notify) => enqueueValues(context, batch, true, notify));
  const values = (notify: boolean): readonly unknown[] => enqueueValues(context, batch, false, notify);
  if (mayFail) {
    const alike = alikeValues(context, batch);
    const result =
      alike === null
        ? await sendQuietly(run, sql.enqueueNew, values)
        : await sendQuietly(run, sql.enqueueAlike, (notify) => [...alike, notify]);
    if (result.ok || sqlState(result.native) !== UNIQUE_VIOLATION) return result;
  }
  return sendQuietly(run, sql.enqueue, values);
}

/** A refused notification must not refuse the job: it is sent again without, and polling wakes the workers. */
async function sendQuietly(
  { context, call, send }: Run,
  statement: string,
  values: (notify: boolean) => readonly unknown[],
): Promise<Attempt> {
  const result = await send(statement, values(context.mayNotify), call);
  if (result.ok || !context.mayNotify || !notifyRefused(result.native)) return result;
  const reason = 'PostgreSQL refused a notification; idle workers find new jobs by polling.';
  context.notify({ kind: 'degraded', reason, error: result.error });
  if (sqlState(result.native) === '42501') context.mayNotify = false;
  return send(statement, values(false), call);
}

/** The role may not notify, or the server's queue of notifications is full, which is only found at commit. */
function notifyRefused(native: unknown): boolean {
  const state = sqlState(native);
  const message = native instanceof Error ? native.message : '';
  return (
    (state === '42501' && message.includes('pg_notify')) || (state === '54000' && /NOTIFY/i.test(message))
  );
}

function failed(job: NewJob, { error, uncertain }: Attempt & { readonly ok: false }): EnqueueOutcome {
  if (!uncertain) {
    return {
      status: 'rejected',
      id: job.id,
      error: new SuretyError(error.code, plain(error), details(job, error)),
    };
  }
  const what = `PostgreSQL did not say whether it stored the job: ${plain(error)}`;
  return {
    status: 'unknown',
    id: job.id,
    error: new SuretyError('OUTCOME_UNKNOWN', what, details(job, error)),
  };
}

/** The message without the remedy, which the class adds again. */
function plain(error: SuretyError): string {
  return error.message.endsWith(` ${error.remedy}`)
    ? error.message.slice(0, -error.remedy.length - 1)
    : error.message;
}

function details(job: NewJob, cause: unknown): ConstructorParameters<typeof SuretyError>[2] {
  return { adapter: 'postgres', operation: 'enqueue', jobId: job.id, cause };
}

/** Whose duplicates the items are that were not stored: of a stored id, or of the holder of the key. */
async function explain(run: Run, left: readonly number[]): Promise<void> {
  if (left.length === 0) return;
  const { context, jobs, slots, call, send } = run;
  const keyed = left.map((index) => jobs[index] as NewJob).filter(({ dedupe }) => dedupe !== null);
  const values = [
    keyed.map(({ queue }) => queue),
    keyed.map(({ dedupe }) => dedupe?.key),
    left.map((index) => jobs[index]?.id),
  ];
  const result = await send(context.sql.dedupeOwners, values, call);
  const again: number[] = [];
  const owners = new Map<string, string>();
  const present = new Set<string>();
  for (const row of result.ok ? (result.rows as unknown as OwnerRow[]) : []) {
    if (row.queue === null) present.add(row.id);
    else owners.set(`${row.queue}\n${row.key}`, row.id);
  }
  for (const index of left) {
    const job = jobs[index] as NewJob;
    const owner = job.dedupe === null ? undefined : owners.get(`${job.queue}\n${job.dedupe.key}`);
    if (!result.ok) slots[index] = { status: 'rejected', id: job.id, error: result.error };
    else if (present.has(job.id)) slots[index] = { status: 'duplicate', id: job.id, of: job.id };
    else if (owner !== undefined) slots[index] = { status: 'duplicate', id: job.id, of: owner };
    else again.push(index);
  }
  if (again.length === 0) return;
  // What stood in the way is gone since: it was completed, or its window has passed.
  if (performance.now() < call.deadline) return store(run, again);
  for (const index of again) {
    const { id } = jobs[index] as NewJob;
    slots[index] = {
      status: 'rejected',
      id,
      error: failure('BACKEND_TIMEOUT', 'The time was over.', 'enqueue', id),
    };
  }
}

interface OwnerRow {
  readonly queue: string | null;
  readonly key: string | null;
  readonly id: string;
}
