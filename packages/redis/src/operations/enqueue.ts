import type { EnqueueOutcome, NewJob } from '@surety/core/contract';
import { type ErrorCode, SuretyError } from '@surety/core/errors';
import type { Attempt, Values } from '../connection.ts';
import { type Context, failure } from '../context.ts';
import type { Call } from '../deadline.ts';
import { plainBody, restOfBody } from '../job-body.ts';
import type { QueueKeys } from '../keys.ts';
import { refusal } from '../new-job.ts';
import { SCRIPTS, type Script } from '../script.ts';
import { confirmation, isConfirmed } from './confirm.ts';
import { list } from './list-queue.ts';

type Slot = EnqueueOutcome | null;

/** The most jobs of one script: about a millisecond of the server's time, and small enough that the next is written meanwhile. */
const MOST_A_SCRIPT = 100;
const BYTES_A_SCRIPT = 1024 * 1024;

/** G1.1, G1.2, G1.3, G1.6, G3.2, G3.3, G7.3. Never throws for what one item can be told. */
export async function enqueue(
  context: Context,
  jobs: readonly NewJob[],
  call: Call,
): Promise<readonly EnqueueOutcome[]> {
  const [only] = jobs;
  if (only !== undefined && jobs.length === 1) return [await enqueueOne(context, only, call)];
  const slots: Slot[] = [];
  const byQueue = new Map<string, Group>();
  for (const [place, job] of jobs.entries()) {
    const error = refusal(job);
    slots.push(error === null ? null : { status: 'rejected', id: job.id, error });
    if (error !== null) continue;
    const known = byQueue.get(job.queue);
    const group = known ?? { places: [], first: new Map<string, number>() };
    if (known === undefined) byQueue.set(job.queue, group);
    if (group.first.has(job.id)) continue;
    group.first.set(job.id, place);
    group.places.push(place);
  }
  const storing: Promise<unknown>[] = [];
  for (const [queue, { places }] of byQueue)
    storing.push(...(await storeInQueue(context, queue, jobs, places, slots, call)));
  await (storing.length === 1 ? storing[0] : Promise.all(storing));
  // The server was found to have forgotten: the list of queues may be gone with the rest.
  for (const queue of byQueue.keys()) if (!context.queues.of(queue).listed) await list(context, queue, call);
  return jobs.map((job, place) => {
    const own = slots[place] ?? null;
    return own ?? repeated(job, slots[byQueue.get(job.queue)?.first.get(job.id) ?? -1] ?? null);
  });
}

/** One job by itself is what a waiting worker waits for: nothing is sorted, and nothing stands between it and its sending. */
async function enqueueOne(context: Context, job: NewJob, call: Call): Promise<EnqueueOutcome> {
  const error = refusal(job);
  if (error !== null) return { status: 'rejected', id: job.id, error };
  const state = context.queues.of(job.queue);
  const unlisted = state.listed ? null : await list(context, job.queue, call);
  if (unlisted !== null) return failed(job, unlisted, false);
  const outcome = await (isPlain(job) ? storePlain : storeOnTerms)(context, state.keys, job, call);
  if (!state.listed) await list(context, job.queue, call);
  return outcome;
}

async function storePlain(
  context: Context,
  keys: QueueKeys,
  job: NewJob,
  call: Call,
): Promise<EnqueueOutcome> {
  const { id, priority } = job;
  const given = keys.enqueue[priority] as readonly string[];
  const values = [id, plainBody(job)];
  const { attempt, confirmed } = await send(context, SCRIPTS.enqueue, given, values, keys.state, call);
  if (!attempt.ok) return failed(job, attempt.error, attempt.uncertain);
  if (!confirmed) return unconfirmed(id);
  const isKnown = (attempt.reply as unknown[]).length > 0;
  return isKnown ? { status: 'duplicate', id, of: id } : { status: 'accepted', id };
}

async function storeOnTerms(
  context: Context,
  keys: QueueKeys,
  job: NewJob,
  call: Call,
): Promise<EnqueueOutcome> {
  const slots: Slot[] = [null];
  await storeGroup(context, keys, [job], [0], false, slots, call);
  return slots[0] as EnqueueOutcome;
}

/** The jobs of a batch for one queue; of those with one id the first. */
interface Group {
  readonly places: number[];
  readonly first: Map<string, number>;
}

/** A later item of the same id: the first was stored or is a duplicate, or its fate is shared. */
function repeated(job: NewJob, first: Slot): EnqueueOutcome {
  if (first === null || first.status === 'accepted') return { status: 'duplicate', id: job.id, of: job.id };
  return first;
}

/** Sends scripts one behind the other, without waiting: the server works on one while the next is written. */
async function storeInQueue(
  context: Context,
  queue: string,
  jobs: readonly NewJob[],
  places: readonly number[],
  slots: Slot[],
  call: Call,
): Promise<Promise<void>[]> {
  const { keys, listed } = context.queues.of(queue);
  const unlisted = listed ? null : await list(context, queue, call);
  if (unlisted !== null) {
    for (const place of places) slots[place] = failed(jobs[place] as NewJob, unlisted, false);
    return [];
  }
  const storing: Promise<void>[] = [];
  for (const chunk of chunksOf(places, jobs)) {
    const isPlainChunk = chunk.every((place) => isPlain(jobs[place] as NewJob));
    for (const group of isPlainChunk ? byLevel(chunk, jobs) : [chunk])
      storing.push(storeGroup(context, keys, jobs, group, isPlainChunk, slots, call));
  }
  return storing;
}

async function storeGroup(
  context: Context,
  keys: QueueKeys,
  jobs: readonly NewJob[],
  places: readonly number[],
  isPlainBatch: boolean,
  slots: Slot[],
  call: Call,
): Promise<void> {
  const batch = places.map((place) => jobs[place] as NewJob);
  const script = isPlainBatch ? SCRIPTS.enqueue : SCRIPTS.enqueueOnTerms;
  const given = isPlainBatch
    ? (keys.enqueue[batch[0]?.priority ?? 0] as readonly string[])
    : keys.enqueueOnTerms;
  const values = isPlainBatch ? plainValues(batch) : batch.flatMap(valuesOnTerms);
  const { attempt, confirmed } = await send(context, script, given, values, keys.state, call);
  if (!attempt.ok) {
    for (const place of places)
      slots[place] = failed(jobs[place] as NewJob, attempt.error, attempt.uncertain);
    return;
  }
  const refused = isPlainBatch ? [] : (attempt.reply as (string | number)[]);
  if (isPlainBatch) {
    for (const at of attempt.reply as number[]) refused.push(at, 'known', batch[at - 1]?.id ?? '');
  }
  for (let at = 0; at < refused.length; at += 3) {
    const place = places[Number(refused[at]) - 1];
    if (place === undefined) continue;
    const job = jobs[place] as NewJob;
    if (refused[at + 1] === 'full') slots[place] = full(job);
    else if (confirmed) slots[place] = { status: 'duplicate', id: job.id, of: String(refused[at + 2]) };
  }
  for (const place of places) {
    const { id } = jobs[place] as NewJob;
    slots[place] ??= confirmed ? { status: 'accepted', id } : unconfirmed(id);
  }
}

async function send(
  context: Context,
  script: Script,
  keys: readonly string[],
  values: Values,
  state: string,
  call: Call,
): Promise<{ readonly attempt: Attempt; readonly confirmed: boolean }> {
  const { confirming } = context;
  const { confirm } = context.options;
  if (confirming === null || confirm === null)
    return { attempt: await context.connection.attempt(script, keys, values, call), confirmed: true };
  // Both scripts answer with what they did not store.
  const then = (reply: unknown) => confirmation(confirm, (reply as unknown[]).length > 0, state);
  const { attempt, answer } = await confirming.attemptAndThen(script, keys, values, then, call);
  return { attempt, confirmed: isConfirmed(confirm, answer) };
}

/** Ready at once and without conditions: one argument a job and three keys. */
function isPlain(job: NewJob): boolean {
  return job.delayMs <= 0 && job.expiresInMs === null && job.dedupe === null && job.maxDepth === null;
}

function plainValues(batch: readonly NewJob[]): string[] {
  return [batch.map(({ id }) => id).join(''), ...batch.map(plainBody)];
}

function valuesOnTerms(job: NewJob): (string | number)[] {
  const { id, priority, delayMs, expiresInMs, maxDepth, dedupe } = job;
  const values = [
    id,
    priority,
    restOfBody(job),
    Math.max(0, Math.ceil(delayMs)),
    expiresInMs === null ? '' : Math.floor(expiresInMs),
    maxDepth ?? '',
  ];
  return dedupe === null ? [...values, ''] : [...values, Math.ceil(dedupe.windowMs), dedupe.key];
}

function chunksOf(places: readonly number[], jobs: readonly NewJob[]): number[][] {
  const chunks: number[][] = [];
  let chunk: number[] = [];
  let size = 0;
  for (const place of places) {
    const more = jobs[place]?.payload.length ?? 0;
    if (chunk.length > 0 && (chunk.length === MOST_A_SCRIPT || size + more > BYTES_A_SCRIPT)) {
      chunks.push(chunk);
      chunk = [];
      size = 0;
    }
    chunk.push(place);
    size += more;
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}

function byLevel(places: readonly number[], jobs: readonly NewJob[]): number[][] {
  const levels = new Map<number, number[]>();
  for (const place of places) {
    const level = jobs[place]?.priority ?? 0;
    const known = levels.get(level);
    if (known === undefined) levels.set(level, [place]);
    else known.push(place);
  }
  return [...levels.values()];
}

function full({ id, queue, maxDepth }: NewJob): EnqueueOutcome {
  const what = `The queue "${queue}" holds ${maxDepth} jobs or more.`;
  return { status: 'rejected', id, error: failure('QUEUE_FULL', what, 'enqueue', id) };
}

function unconfirmed(id: string): EnqueueOutcome {
  const what = 'The job is stored, but not as durably as asked.';
  return { status: 'unknown', id, error: failure('DURABILITY_NOT_REACHED', what, 'enqueue', id) };
}

function failed(job: NewJob, error: SuretyError, uncertain: boolean): EnqueueOutcome {
  const { id } = job;
  const make = (code: ErrorCode, what: string, remedy?: string): SuretyError =>
    new SuretyError(code, what, {
      adapter: 'redis',
      operation: 'enqueue',
      jobId: id,
      cause: error,
      ...(remedy === undefined ? {} : { remedy }),
    });
  if (!uncertain) return { status: 'rejected', id, error: make(error.code, plain(error), error.remedy) };
  return {
    status: 'unknown',
    id,
    error: make('OUTCOME_UNKNOWN', `Redis did not say whether it stored the job: ${plain(error)}`),
  };
}

/** The message without the remedy, which the class adds again. */
function plain(error: SuretyError): string {
  return error.message.endsWith(` ${error.remedy}`)
    ? error.message.slice(0, -error.remedy.length - 1)
    : error.message;
}
