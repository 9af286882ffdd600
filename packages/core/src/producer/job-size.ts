import { ENVELOPE_BYTES, type NewJob } from '../contract/index.ts';

/**
 * UTF-8 bytes of a job with its envelope, as every limit counts them. The keys count beside the flat rate of the envelope, since
 * 256 characters can take three times as many bytes.
 */
export function jobBytes(job: NewJob): number {
  const keys =
    (job.dedupe === null ? 0 : Buffer.byteLength(job.dedupe.key)) +
    (job.idempotencyKey === job.id ? 0 : Buffer.byteLength(job.idempotencyKey));
  return ENVELOPE_BYTES + Buffer.byteLength(job.payload) + headerBytes(job.headers) + keys;
}

/** A bound above `jobBytes` that reads no text: UTF-8 has three bytes at the most for each half of a character in UTF-16. */
export function mostBytes(job: NewJob): number {
  const keys = (job.dedupe === null ? 0 : job.dedupe.key.length) + job.idempotencyKey.length;
  return ENVELOPE_BYTES + 3 * (job.payload.length + keys) + headerBytes(job.headers);
}

function headerBytes(headers: NewJob['headers']): number {
  for (const _ in headers) return Buffer.byteLength(JSON.stringify(headers));
  return 0;
}
