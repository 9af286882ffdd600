import type { NewJob } from '@surety/core/contract';
import type { Context } from '../context.ts';
import { plainArray } from '../sql.ts';

/** A waiting worker wants to know of jobs that are due before it would look by itself. */
const HINT_WITHIN_MS = 1000;

/** The values of `enqueue`, `enqueue-new` and `enqueue-deduped`: one array a field, null where no job of the batch has it. */
export function enqueueValues(
  context: Context,
  given: readonly NewJob[],
  keyed: boolean,
  notify: boolean,
): unknown[] {
  const order = orderOfIds(given);
  const batch = order === null ? given : order.map((place) => given[place] as NewJob);
  const values: unknown[] = [
    plainArray(batch.map(({ id }) => id)),
    // Names of queues and types need no quotes.
    plainArray(batch.map(({ queue }) => queue)),
    plainArray(batch.map(({ type }) => type)),
    plainArray(batch.map(({ priority }) => priority)),
    payloadsText(batch),
    plainArray(batch.map(({ delayMs }) => Math.max(0, Math.ceil(delayMs)))),
    sparse(batch, ({ headers }) => headersText(headers)),
    sparse(batch, ({ id, idempotencyKey }) => (idempotencyKey === id ? null : idempotencyKey)),
    sparse(batch, ({ expiresInMs }) => (expiresInMs === null ? null : Math.floor(expiresInMs))),
    sparse(batch, ({ maxAttempts }) => maxAttempts),
    context.channel,
    notify,
    HINT_WITHIN_MS,
    order === null ? null : plainArray(order.map((place) => place + 1)),
  ];
  if (keyed) {
    values.push(
      sparse(batch, ({ dedupe }) => dedupe?.key ?? null),
      sparse(batch, ({ dedupe }) => (dedupe === null ? null : Math.ceil(dedupe.windowMs))),
    );
  }
  return values;
}

/** The values of `enqueue-alike` but for the last, whether to notify; null: the jobs differ in more than id and payload, or are not ready at once, or not in the order of their ids. */
export function alikeValues(context: Context, batch: readonly NewJob[]): readonly unknown[] | null {
  const [first] = batch;
  if (first === undefined || !batch.every((job, place) => isAlike(job, batch[place - 1] ?? null, first)))
    return null;
  return [
    plainArray(batch.map(({ id }) => id)),
    first.queue,
    first.type,
    first.priority,
    first.maxAttempts,
    payloadsText(batch),
    context.channel,
  ];
}

function isAlike(job: NewJob, before: NewJob | null, first: NewJob): boolean {
  return (
    job.queue === first.queue &&
    job.type === first.type &&
    job.priority === first.priority &&
    job.maxAttempts === first.maxAttempts &&
    job.delayMs <= 0 &&
    job.expiresInMs === null &&
    job.dedupe === null &&
    job.idempotencyKey === job.id &&
    headersText(job.headers) === null &&
    (before === null || before.id < job.id)
  );
}

/** Each is JSON already: as texts of an array they would be escaped here and read twice there. */
function payloadsText(batch: readonly NewJob[]): string {
  return `[${batch.map(({ payload }) => payload).join()}]`;
}

/** The places of the jobs in the order of their ids; null: they are in it, as ids made by core are. */
function orderOfIds(given: readonly NewJob[]): number[] | null {
  const idAt = (place: number): string => given[place]?.id ?? '';
  if (given.every(({ id }, place) => place === 0 || idAt(place - 1) < id)) return null;
  return given.map((_, place) => place).sort((a, b) => (idAt(a) < idAt(b) ? -1 : 1));
}

function sparse<T>(batch: readonly NewJob[], pick: (job: NewJob) => T | null): (T | null)[] | null {
  const picked = batch.map(pick);
  return picked.every((value) => value === null) ? null : picked;
}

function headersText(headers: NewJob['headers']): string | null {
  for (const _ in headers) return JSON.stringify(headers);
  return null;
}
