import type { NewJob } from '@surety/core/contract';

/**
 * A body is the inside of a JSON array, the payload last and verbatim behind the only line end:
 * `created,level,expires,"type",maxAttempts,idempotencyKey,headers,dedupeKey,\npayload`. Times in ms by the store's clock; 0 where
 * there is nothing; `expires` is `[expires,due]` of a job that was enqueued with a delay. The store writes the fields of time;
 * scripts read the level and, of the dead, type and dedupe key.
 */
export type Head = readonly [
  created: number,
  level: number,
  expires: number | readonly [expires: number, due: number],
  type: string,
  maxAttempts: number,
  idempotencyKey: string | 0,
  headers: Readonly<Record<string, string>> | 0,
  dedupeKey: string | 0,
];

/** What `counters` holds; a job that never came back has none. Attempt and deliveries are those that have ended. */
export type Counters = readonly [
  attempt: number,
  deliveries: number,
  lostClaims: number,
  interruptions: number,
  redrives: number,
  backedOff: number,
  unknownSince: number,
];

const NONE: Counters = [0, 0, 0, 0, 0, 0, 0];

/** A body from its level on, of a job without expiry. */
export function plainBody(job: NewJob): string {
  return `${job.priority},0,${restOfBody(job)}`;
}

/** A body from its type on. */
export function restOfBody({
  id,
  type,
  maxAttempts,
  idempotencyKey,
  headers,
  dedupe,
  payload,
}: NewJob): string {
  const key = idempotencyKey === id ? '0' : JSON.stringify(idempotencyKey);
  const dedupeKey = dedupe === null ? '0' : JSON.stringify(dedupe.key);
  return `"${type}",${maxAttempts ?? 0},${key},${headersText(headers)},${dedupeKey},\n${payload}`;
}

function headersText(headers: NewJob['headers']): string {
  for (const _ in headers) return JSON.stringify(headers);
  return '0';
}

/** The fields of a body and the text of its payload. */
export function readBody(body: string): { readonly head: Head; readonly payload: string } {
  const end = body.indexOf('\n');
  return {
    head: JSON.parse(`[${body.slice(0, end).replace(/,$/, '')}]`) as Head,
    payload: body.slice(end + 1),
  };
}

/** From `1,2,...`, or from nothing. */
export function readCounters(text: string): Counters {
  return text === '' ? NONE : (text.split(',').map(Number) as unknown as Counters);
}
