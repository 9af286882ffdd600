import {
  DEFAULT_PRIORITY,
  ENVELOPE_BYTES,
  JOB_ID,
  JOB_TYPE,
  type NewJob,
  QUEUE_NAME,
} from '@surety/core/contract';
import type { SuretyError } from '@surety/core/errors';
import { failure } from './call.ts';
import type { RabbitmqCapabilities } from './capabilities.ts';

const MAX_INT = 2 ** 31 - 1;

/** Why this one job of `bytes` cannot be stored, before anything is sent; null: it can. */
export function refusal(
  job: NewJob,
  bytes: number,
  { delay, payload }: RabbitmqCapabilities,
): SuretyError | null {
  const error = (code: Parameters<typeof failure>[0], what: string): SuretyError =>
    failure(code, what, 'enqueue', { jobId: job.id });
  if (!JOB_ID.test(job.id)) return error('OPTIONS_INVALID', 'The id of the job is not a UUID in lower case.');
  if (!QUEUE_NAME.test(job.queue)) return error('OPTIONS_INVALID', 'The name of the queue is not allowed.');
  if (!JOB_TYPE.test(job.type)) return error('OPTIONS_INVALID', 'The type of the job is not allowed.');
  if (job.priority !== DEFAULT_PRIORITY && job.priority !== 0)
    return error('CAPABILITY_MISSING', 'The backend has no priorities.');
  if (job.dedupe !== null) return error('CAPABILITY_MISSING', 'The backend cannot de-duplicate.');
  if (!(job.delayMs >= 0 && job.delayMs <= delay.maxMs))
    return error('LIMIT_EXCEEDED', `The delay of ${job.delayMs} ms is not within 0 to ${delay.maxMs} ms.`);
  if (job.expiresInMs !== null && !Number.isFinite(job.expiresInMs))
    return error('LIMIT_EXCEEDED', 'The expiry is out of range.');
  if (
    job.maxAttempts !== null &&
    !(Number.isInteger(job.maxAttempts) && job.maxAttempts >= 1 && job.maxAttempts <= MAX_INT)
  )
    return error('LIMIT_EXCEEDED', `The limit of ${job.maxAttempts} attempts is not within 1 to ${MAX_INT}.`);
  if (bytes > payload.maxBytes)
    return error('PAYLOAD_TOO_LARGE', `The job takes ${bytes} bytes; ${payload.maxBytes} are allowed.`);
  return null;
}

/** As the limits reckon it. */
export function sizeOf(job: NewJob): number {
  let bytes = ENVELOPE_BYTES + Buffer.byteLength(job.payload);
  for (const name in job.headers)
    bytes += Buffer.byteLength(name) + Buffer.byteLength(job.headers[name] ?? '');
  return bytes;
}
