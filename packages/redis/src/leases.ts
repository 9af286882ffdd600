import type { Lease, LeaseToken } from '@surety/core/contract';
import { type Counters, type Head, readBody, readCounters } from './job-body.ts';

/** One job of a claim's answer, as JSON. */
type ClaimedRow = readonly [id: string, place: number, counters: Counters | 0, ...Head, payload: unknown];

/** Of one answer: by whose clock, and under which token. */
export interface ClaimFacts {
  readonly queue: string;
  /** All its leases share it. */
  readonly token: LeaseToken;
  /** By the store's clock, in ms. */
  readonly now: number;
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});
/** A job that came back stands so much earlier in line than it became ready, in microseconds: see the part `clock`. */
const AHEAD = 4_000_000_000_000_000;

/** Leases of a claim, in the order of the store. Throws when one of the payloads is not JSON. */
export function toLeases(text: string, facts: ClaimFacts): Lease[] {
  const rows = JSON.parse(text) as ClaimedRow[];
  return rows.map((row) => {
    const [id, place, counters, , , expires, type, maxAttempts, key, headers, , payload] = row;
    return lease(id, place, counters, [expires, type, maxAttempts, key, headers], { value: payload }, facts);
  });
}

/** As `toLeases`, from four values a job. */
export function toLeasesApart(values: readonly string[], facts: ClaimFacts): Lease[] {
  const leases: Lease[] = [];
  for (let at = 0; at + 3 < values.length; at += 4) {
    const [id = '', place, counters = '0', body = ''] = values.slice(at, at + 4);
    const { head, payload } = readBody(body);
    const [, , expires, type, maxAttempts, key, headers] = head;
    const numbers = counters === '0' ? 0 : readCounters(counters.slice(1, -1));
    leases.push(
      lease(
        id,
        Number(place),
        numbers,
        [expires, type, maxAttempts, key, headers],
        parsePayload(payload),
        facts,
      ),
    );
  }
  return leases;
}

function parsePayload(text: string): Lease['payload'] {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}

function lease(
  id: string,
  place: number,
  counters: Counters | 0,
  [expires, type, maxAttempts, key, headers]: readonly [Head[2], Head[3], Head[4], Head[5], Head[6]],
  payload: Lease['payload'],
  { queue, token, now }: ClaimFacts,
): Lease {
  const since = place < 0 ? place + AHEAD : place;
  return {
    id,
    queue,
    type,
    headers: headers === 0 ? NO_HEADERS : headers,
    idempotencyKey: key === 0 ? id : key,
    maxAttempts: maxAttempts === 0 ? null : maxAttempts,
    attempt: counters === 0 ? 1 : counters[0] + 1,
    deliveries: counters === 0 ? 1 : counters[1] + 1,
    lostClaims: counters === 0 ? 0 : counters[2],
    interruptions: counters === 0 ? 0 : counters[3],
    redrives: counters === 0 ? 0 : counters[4],
    token,
    payload,
    lossBackedOff: counters !== 0 && counters[5] === 1,
    unknownTypeForMs: counters === 0 || counters[6] === 0 ? null : Math.max(0, now - counters[6]),
    // The fence of a claim is the microsecond in which it was made.
    waitedMs: Math.max(0, Math.round((token.fence - since) / 1000)),
    expiresInMs: expires === 0 ? null : expires - now,
  };
}
