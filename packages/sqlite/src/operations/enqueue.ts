import { type CallOptions, ENVELOPE_BYTES, type EnqueueOutcome, type NewJob } from '@surety/core/contract';
import { type ErrorCode, isSuretyError, SuretyError } from '@surety/core/errors';
import type { SqliteCapabilities } from '../capabilities.ts';
import type { Connection } from '../connection.ts';
import { ADAPTER, mapNative } from '../native-errors.ts';
import { ensureQueue, type QueueRow } from '../queue-row.ts';
import type { WriteTransaction } from '../transaction.ts';

/** Expired dedupe records removed for each one added: more than one, so that they end up gone. */
const TRIM_PER_KEY = 2;

/** Stores jobs in one transaction. Fails as a whole or not at all; then each item says which. */
export async function enqueue(
  connection: Connection,
  capabilities: SqliteCapabilities,
  jobs: readonly NewJob[],
  { timeoutMs }: CallOptions,
): Promise<readonly EnqueueOutcome[]> {
  if (jobs.length === 0) return [];
  checkBatch(capabilities, jobs);
  try {
    return await connection.write('enqueue', timeoutMs, (tx) => storeAll(tx, capabilities, jobs));
  } catch (thrown) {
    const error = isSuretyError(thrown) ? thrown : mapNative(thrown, 'enqueue', connection.options.file);
    const status = error.code === 'OUTCOME_UNKNOWN' ? 'unknown' : 'rejected';
    return jobs.map(({ id }) => ({ status, id, error }));
  }
}

/** Throws LIMIT_EXCEEDED for more jobs than one transaction should hold. */
export function checkBatch(capabilities: SqliteCapabilities, jobs: readonly NewJob[]): void {
  if (jobs.length <= capabilities.batch.maxItems) return;
  throw refused(
    'LIMIT_EXCEEDED',
    `A batch holds at most ${capabilities.batch.maxItems} jobs, not ${jobs.length}.`,
    null,
  );
}

/** The work inside a transaction, one's own or the application's. */
export function storeAll(
  tx: WriteTransaction,
  capabilities: SqliteCapabilities,
  jobs: readonly NewJob[],
): EnqueueOutcome[] {
  const queues = new Map<string, OpenQueue>();
  let keys = 0;
  const outcomes = jobs.map((job): EnqueueOutcome => {
    const error = refusalOf(capabilities, job);
    if (error !== null) return { status: 'rejected', id: job.id, error };
    const outcome = storeOne(tx, openQueue(tx, queues, job.queue), job);
    if (outcome.status === 'accepted' && job.dedupe !== null) keys += 1;
    return outcome;
  });
  for (const { row, ready, scheduled } of queues.values()) {
    if (ready + scheduled > 0) tx.moved(row.id, ready, scheduled, 0);
  }
  if (keys > 0) tx.st.trimKeys.run(tx.now, keys * TRIM_PER_KEY);
  return outcomes;
}

/** A queue during one batch, with what the batch has added to it. */
interface OpenQueue {
  readonly row: QueueRow;
  /** Jobs that wait, in any list, before the batch; read when a limit asks for it. */
  depth: number | null;
  ready: number;
  scheduled: number;
}

function openQueue(tx: WriteTransaction, queues: Map<string, OpenQueue>, name: string): OpenQueue {
  const known = queues.get(name);
  if (known !== undefined) return known;
  const opened = { row: ensureQueue(tx.st, name), depth: null, ready: 0, scheduled: 0 };
  queues.set(name, opened);
  return opened;
}

function storeOne(tx: WriteTransaction, queue: OpenQueue, job: NewJob): EnqueueOutcome {
  const { st, now } = tx;
  // An id that is stored is a duplicate also where its key is held or the queue is full: that is how a repeated call is told.
  if ((job.dedupe !== null || job.maxDepth !== null) && st.findId.get(job.id) !== undefined) {
    return { status: 'duplicate', id: job.id, of: job.id };
  }
  const holder = job.dedupe === null ? undefined : st.findKey.get(queue.row.id, job.dedupe.key, now);
  if (holder !== undefined) return { status: 'duplicate', id: job.id, of: String(holder['id']) };
  if (job.maxDepth !== null && depthOf(tx, queue) >= job.maxDepth) {
    const error = refused(
      'QUEUE_FULL',
      `Queue '${job.queue}' has reached its depth of ${job.maxDepth}.`,
      job.id,
    );
    return { status: 'rejected', id: job.id, error };
  }
  const seq = tx.nextSeq();
  if (!insertJob(tx, queue.row.id, seq, job)) return { status: 'duplicate', id: job.id, of: job.id };
  const due = now + job.delayMs;
  if (job.delayMs > 0) {
    st.insertScheduled.run(queue.row.id, due, seq, job.priority, 1);
    queue.scheduled += 1;
  } else {
    st.insertTicket.run(queue.row.id, job.priority, now, seq, now, 1);
    queue.ready += 1;
  }
  if (job.dedupe !== null) st.takeKey.run(queue.row.id, job.dedupe.key, job.id, now + job.dedupe.windowMs);
  // Also for a scheduled one: those who wait have set their timer to the next due time they know.
  tx.woken.add(job.queue);
  return { status: 'accepted', id: job.id };
}

function insertJob(tx: WriteTransaction, queue: number, seq: number, job: NewJob): boolean {
  const { now } = tx;
  const { changes } = tx.st.insertJob.run(
    seq,
    job.id,
    queue,
    job.type,
    job.priority,
    now,
    now + job.delayMs,
    job.expiresInMs === null ? null : now + job.expiresInMs,
    job.maxAttempts,
    job.idempotencyKey === job.id ? null : job.idempotencyKey,
    job.dedupe === null ? null : job.dedupe.key,
    headersText(job.headers),
    job.payload,
  );
  return changes === 1;
}

function headersText(headers: NewJob['headers']): string | null {
  for (const _ in headers) return JSON.stringify(headers);
  return null;
}

/** Ready and scheduled; a lease that has ended counts as ready. */
function depthOf(tx: WriteTransaction, queue: OpenQueue): number {
  if (queue.depth === null) {
    const leases = tx.st.countLeases.get(tx.now, tx.now, tx.now, queue.row.id);
    queue.depth = queue.row.ready + queue.row.scheduled + Number(leases?.['ended']);
  }
  return queue.depth + queue.ready + queue.scheduled;
}

/** Why a job lies beyond what the capabilities state; null: it does not. */
function refusalOf(capabilities: SqliteCapabilities, job: NewJob): SuretyError | null {
  const { delay, dedupe, priority, payload } = capabilities;
  if (!(job.delayMs >= 0 && job.delayMs <= delay.maxMs)) {
    return refused(
      'LIMIT_EXCEEDED',
      `A delay lies between 0 and ${delay.maxMs} ms, not ${job.delayMs}.`,
      job.id,
    );
  }
  if (!(job.priority >= 0 && job.priority < priority.levels)) {
    return refused(
      'LIMIT_EXCEEDED',
      `A priority lies between 0 and ${priority.levels - 1}, not ${job.priority}.`,
      job.id,
    );
  }
  if (job.dedupe !== null && !(job.dedupe.windowMs <= dedupe.maxWindowMs)) {
    return refused('LIMIT_EXCEEDED', `A dedupe window has at most ${dedupe.maxWindowMs} ms.`, job.id);
  }
  const bytes = sizeOf(job, payload.maxBytes);
  if (bytes <= payload.maxBytes) return null;
  return refused('PAYLOAD_TOO_LARGE', `The job has ${bytes} bytes, more than ${payload.maxBytes}.`, job.id);
}

/** Bytes of a job; an upper bound where that is enough to tell that it fits, for counting UTF-8 is not free. */
function sizeOf(job: NewJob, limit: number): number {
  let units = job.payload.length;
  for (const name in job.headers) units += name.length + (job.headers[name] ?? '').length;
  if (job.dedupe !== null) units += job.dedupe.key.length;
  // A UTF-16 unit takes three bytes at most.
  const bound = ENVELOPE_BYTES + 3 * units;
  if (bound <= limit) return bound;
  let bytes = ENVELOPE_BYTES + Buffer.byteLength(job.payload) + Buffer.byteLength(job.dedupe?.key ?? '');
  for (const name in job.headers)
    bytes += Buffer.byteLength(name) + Buffer.byteLength(job.headers[name] ?? '');
  return bytes;
}

function refused(code: ErrorCode, what: string, jobId: string | null): SuretyError {
  return new SuretyError(code, what, { adapter: ADAPTER, operation: 'enqueue', jobId });
}
