import type { Lease } from '@surety/core/contract';

type Counters = readonly [
  attempt: number,
  deliveries: number,
  lostClaims: number,
  interruptions: number,
  redrives: number,
  backedOff: boolean,
  unknownTypeForSeconds: number | null,
];
type Envelope = readonly [
  headers: Readonly<Record<string, string>> | null,
  idempotencyKey: string | null,
  maxAttempts: number | null,
  expiresInSeconds: number | null,
];
/** One job of a claim's answer, without and with its payload. */
type Facts = readonly [
  id: string,
  fence: number,
  seq: number,
  priority: number,
  type: string,
  waitedSeconds: number,
  counters: Counters | 0,
  envelope: Envelope | 0,
];
/** As the hot statement gives it. */
export type ClaimedRow = readonly [...Facts, payload: unknown];

const NO_COUNTERS: Counters = [0, 0, 0, 0, 0, false, null];
const NO_ENVELOPE: Envelope = [null, null, null, null];
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/** Leases of a claim, better priority first, then in the order of the store. */
export function toLeases(rows: ClaimedRow[], queue: string, nonce: string): Lease[] {
  rows.sort((a, b) => a[3] - b[3] || a[2] - b[2]);
  return rows.map((row) => toLease(row, { value: row[8] }, queue, nonce));
}

/** As `toLeases`, from rows with the text of the payload beside them. */
export function toReplayedLeases(
  rows: readonly { readonly facts: string; readonly payload: string }[],
  queue: string,
  nonce: string,
): Lease[] {
  return rows
    .map(({ facts, payload }) => ({ facts: JSON.parse(facts) as Facts, payload: parsePayload(payload) }))
    .sort((a, b) => a.facts[3] - b.facts[3] || a.facts[2] - b.facts[2])
    .map(({ facts, payload }) => toLease(facts, payload, queue, nonce));
}

function parsePayload(text: string): Lease['payload'] {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}

function toLease(row: ClaimedRow | Facts, payload: Lease['payload'], queue: string, nonce: string): Lease {
  const [id, fence, , , type, waitedSeconds] = row;
  const [attempt, deliveries, lostClaims, interruptions, redrives, lossBackedOff, unknownFor] =
    row[6] || NO_COUNTERS;
  const [headers, idempotencyKey, maxAttempts, expiresIn] = row[7] || NO_ENVELOPE;
  return {
    id,
    queue,
    type,
    headers: headers ?? NO_HEADERS,
    idempotencyKey: idempotencyKey ?? id,
    maxAttempts,
    attempt: attempt + 1,
    deliveries: deliveries + 1,
    lostClaims,
    interruptions,
    redrives,
    token: { nonce, fence },
    payload,
    lossBackedOff,
    unknownTypeForMs: toMs(unknownFor),
    waitedMs: Math.max(0, Math.round(waitedSeconds * 1000)),
    expiresInMs: toMs(expiresIn),
  };
}

function toMs(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1000);
}
