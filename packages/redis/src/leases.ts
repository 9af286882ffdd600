import type { Lease, LeaseToken } from '@surety/core/contract';
import { type Counters, type Head, readBody } from './job-body.ts';

/** Of the jobs of a claim's answer, in the same order. */
type Facts = readonly [
  ids: readonly string[],
  places: readonly number[],
  /** Empty: none has any. */
  counters: readonly (Counters | 0)[],
];

/** A body, as a JSON array. */
type Row = readonly [...Head, payload: unknown];
/** Its length: more, and the payload is none. */
const FIELDS = 9;

/** Of one answer: by whose clock, and under which token. */
export interface Origin {
  readonly queue: string;
  /** All its leases share it. */
  readonly token: LeaseToken;
  /** By the store's clock, in ms. */
  readonly now: number;
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});
/** A job that came back stands so much earlier in line than it became ready, in microseconds: see the part `clock`. */
const AHEAD = 4_000_000_000_000_000;

/** Leases of a claim, in the order of the store. Null: one of the payloads is not JSON, or is more than one. */
export function toLeases(facts: string, bodies: string, origin: Origin): Lease[] | null {
  const [ids, places, counters] = JSON.parse(facts) as Facts;
  const rows = readRows(bodies);
  if (rows === null || rows.length !== ids.length) return null;
  const leases: Lease[] = [];
  for (let at = 0; at < ids.length; at += 1) {
    const row = rows[at] as Row;
    if (row.length !== FIELDS) return null;
    const payload = { value: row[8] };
    leases.push(leaseOf(ids[at] as string, places[at] as number, counters[at] ?? 0, row, payload, origin));
  }
  return leases;
}

function readRows(bodies: string): readonly Row[] | null {
  try {
    return JSON.parse(bodies) as Row[];
  } catch {
    return null;
  }
}

/** As `toLeases`, from bodies that were sent apart: a payload that is not JSON hides no neighbour. */
export function toLeasesApart(facts: string, bodies: readonly string[], origin: Origin): Lease[] {
  const [ids, places, counters] = JSON.parse(facts) as Facts;
  return bodies.map((body, at) => {
    const { head, payload } = readBody(body);
    return leaseOf(ids[at] ?? '', places[at] ?? 0, counters[at] ?? 0, head, parsePayload(payload), origin);
  });
}

function parsePayload(text: string): Lease['payload'] {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}

/** Field by field: to take a row apart as a list costs more than all that is made of it, until it has been compiled. */
function leaseOf(
  id: string,
  place: number,
  counters: Counters | 0,
  head: Head | Row,
  payload: Lease['payload'],
  { queue, token, now }: Origin,
): Lease {
  const expires = head[2];
  const maxAttempts = head[4];
  const key = head[5];
  const headers = head[6];
  const since = place < 0 ? place + AHEAD : place;
  return {
    id,
    queue,
    type: head[3],
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
