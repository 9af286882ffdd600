import { ENVELOPE_BYTES, JOB_ID, JOB_TYPE, type NewJob, QUEUE_NAME } from '@surety/core/contract';
import type { SuretyError } from '@surety/core/errors';
import { CAPABILITIES } from './capabilities.ts';
import { failure } from './context.ts';

const { delay, dedupe, payload, priority } = CAPABILITIES;
const LEVELS = priority.levels;
const MAX_INT = 2 ** 31 - 1;

/** The names that were found good last. Most jobs have those of the job before. */
let lastQueue = '';
let lastType = '';

/** Why this one job cannot be stored, before anything is sent; null: it can. */
export function refusal(job: NewJob): SuretyError | null {
  const error = (code: Parameters<typeof failure>[0], what: string): SuretyError =>
    failure(code, what, 'enqueue', job.id);
  if (!JOB_ID.test(job.id)) return error('OPTIONS_INVALID', 'The id of the job is not a UUID in lower case.');
  if (job.queue !== lastQueue && !QUEUE_NAME.test(job.queue))
    return error('OPTIONS_INVALID', 'The name of the queue is not allowed.');
  if (job.type !== lastType && !JOB_TYPE.test(job.type))
    return error('OPTIONS_INVALID', 'The type of the job is not allowed.');
  lastQueue = job.queue;
  lastType = job.type;
  if (!Number.isInteger(job.priority) || job.priority < 0 || job.priority >= LEVELS) {
    return error('LIMIT_EXCEEDED', `The priority ${job.priority} is not within 0 to ${LEVELS - 1}.`);
  }
  if (!(job.delayMs >= 0 && job.delayMs <= delay.maxMs)) {
    return error('LIMIT_EXCEEDED', `The delay of ${job.delayMs} ms is not within 0 to ${delay.maxMs} ms.`);
  }
  if (job.expiresInMs !== null && !(Math.abs(job.expiresInMs) <= Number.MAX_SAFE_INTEGER / 1000)) {
    return error('LIMIT_EXCEEDED', `The expiry in ${job.expiresInMs} ms is out of range.`);
  }
  if (
    job.maxAttempts !== null &&
    !(Number.isInteger(job.maxAttempts) && job.maxAttempts >= 1 && job.maxAttempts <= MAX_INT)
  ) {
    return error('LIMIT_EXCEEDED', `The limit of ${job.maxAttempts} attempts is not within 1 to ${MAX_INT}.`);
  }
  if (job.dedupe !== null && !(job.dedupe.windowMs > 0 && job.dedupe.windowMs <= dedupe.maxWindowMs)) {
    return error(
      'LIMIT_EXCEEDED',
      `The window of ${job.dedupe.windowMs} ms is not within 1 to ${dedupe.maxWindowMs} ms.`,
    );
  }
  if (!storable(job.idempotencyKey) || !storable(job.dedupe?.key ?? '')) {
    return error('PAYLOAD_NOT_SUPPORTED', 'A key holds a character that cannot be stored.');
  }
  if (!storable(job.payload) || !areStorable(job.headers)) {
    return error('PAYLOAD_NOT_SUPPORTED', 'The job holds a lone surrogate, which UTF-8 does not have.');
  }
  // A character takes three bytes at the most. Small jobs, which are most, are not read once more for their size.
  if (isBare(job) && ENVELOPE_BYTES + 3 * job.payload.length <= payload.maxBytes) return null;
  const bytes = sizeOf(job);
  if (bytes > payload.maxBytes) {
    return error('PAYLOAD_TOO_LARGE', `The job takes ${bytes} bytes; ${payload.maxBytes} are allowed.`);
  }
  return null;
}

/** UTF-8 has no half of a surrogate pair. */
function storable(text: string): boolean {
  return text.isWellFormed();
}

function areStorable(headers: NewJob['headers']): boolean {
  for (const name in headers) if (!storable(name) || !storable(headers[name] ?? '')) return false;
  return true;
}

/** Of what is counted it has nothing but a payload. */
function isBare({ headers, dedupe }: NewJob): boolean {
  for (const _ in headers) return false;
  return dedupe === null;
}

function sizeOf(job: NewJob): number {
  let bytes = ENVELOPE_BYTES + Buffer.byteLength(job.payload);
  for (const name in job.headers)
    bytes += Buffer.byteLength(name) + Buffer.byteLength(job.headers[name] ?? '');
  return bytes + Buffer.byteLength(job.dedupe?.key ?? '');
}
