import type { Lease, LeaseToken } from '@surety/core/contract';
import { ID_LENGTH, type PlacedLease, rememberJobs } from './claimed-jobs.ts';
import { type Counters, type Head, readBody } from './job-body.ts';

/** The jobs of a claim's answer, and of each what is counted of it, in the same order. */
export interface Claimed {
  /**
   * The fence, of each job of the claim its level, and their ids, with a space between. A hyphen for a level: the job had left when the
   * claim was made again, and the answer is without it.
   */
  readonly jobs: string;
  /** As JSON; empty: none of them ever came back. */
  readonly counters: string;
}

/** `place`: in line, in microseconds; 0: not known. */
type Counted = readonly [place: number, ...Counters];

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
export function toLeases(claimed: Claimed, bodies: string, origin: Origin): Lease[] | null {
  const rows = readRows(bodies);
  const jobs = readJobs(claimed, origin);
  if (rows === null || rows.length !== jobs.count) return null;
  const counted = readCounted(claimed);
  const leases: Lease[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at] as Row;
    if (row.length !== FIELDS) return null;
    leases.push(leaseOf(jobs, at, counted?.[at] ?? 0, row, { value: row[8] }, origin));
  }
  return leases;
}

/** Which jobs an answer holds. */
interface Jobs {
  readonly count: number;
  /** Of all jobs of the claim. */
  readonly ids: string;
  /** From 0, in the claim; null: the answer holds all of it. */
  readonly places: readonly number[] | null;
}

function readJobs({ jobs }: Claimed, { token, queue }: Origin): Jobs {
  const levels = jobs.indexOf(' ') + 1;
  const size = (jobs.length - levels - 1) / (ID_LENGTH + 1);
  const ids = jobs.slice(levels + size + 1);
  rememberJobs(token, queue, ids);
  const left = jobs.indexOf('-', levels);
  if (left < 0 || left >= levels + size) return { count: size, ids, places: null };
  const places: number[] = [];
  for (let at = 0; at < size; at += 1) if (jobs[levels + at] !== '-') places.push(at);
  return { count: places.length, ids, places };
}

function readCounted({ counters }: Claimed): readonly (Counted | 0)[] | null {
  return counters === '' ? null : (JSON.parse(counters) as (Counted | 0)[]);
}

function readRows(bodies: string): readonly Row[] | null {
  try {
    return JSON.parse(bodies) as Row[];
  } catch {
    return null;
  }
}

/** As `toLeases`, from bodies that were sent apart: a payload that is not JSON hides no neighbour. */
export function toLeasesApart(claimed: Claimed, bodies: readonly string[], origin: Origin): Lease[] {
  const counted = readCounted(claimed);
  const jobs = readJobs(claimed, origin);
  return bodies.map((body, at) => {
    const { head, payload } = readBody(body);
    return leaseOf(jobs, at, counted?.[at] ?? 0, head, parsePayload(payload), origin);
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
  { ids, places }: Jobs,
  at: number,
  counted: Counted | 0,
  head: Head | Row,
  payload: Lease['payload'],
  { queue, token, now }: Origin,
): PlacedLease {
  const place = places === null ? at : (places[at] as number);
  const id = ids.slice(place * ID_LENGTH, (place + 1) * ID_LENGTH);
  const times = head[2];
  const expires = typeof times === 'number' ? times : times[0];
  const maxAttempts = head[4];
  const key = head[5];
  const headers = head[6];
  return {
    id,
    queue,
    type: head[3],
    headers: headers === 0 ? NO_HEADERS : headers,
    idempotencyKey: key === 0 ? id : key,
    maxAttempts: maxAttempts === 0 ? null : maxAttempts,
    attempt: counted === 0 ? 1 : counted[1] + 1,
    deliveries: counted === 0 ? 1 : counted[2] + 1,
    lostClaims: counted === 0 ? 0 : counted[3],
    interruptions: counted === 0 ? 0 : counted[4],
    redrives: counted === 0 ? 0 : counted[5],
    token,
    payload,
    lossBackedOff: counted !== 0 && counted[6] === 1,
    unknownTypeForMs: counted === 0 || counted[7] === 0 ? null : Math.max(0, now - counted[7]),
    // The fence of a claim is the microsecond in which it was made.
    waitedMs: Math.max(0, Math.round((token.fence - readySince(counted, head)) / 1000)),
    expiresInMs: expires === 0 ? null : expires - now,
    place: place + 1,
  };
}

/** In microseconds. A job that came back has its place in line for it, any other became ready when it was stored or due. */
function readySince(counted: Counted | 0, head: Head | Row): number {
  const place = counted === 0 ? 0 : counted[0];
  if (place !== 0) return place < 0 ? place + AHEAD : place;
  const times = head[2];
  return (typeof times === 'number' ? head[0] : times[1]) * 1000;
}
