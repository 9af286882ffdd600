import type { Claim, ClaimRequest } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import type { SqliteCapabilities } from '../capabilities.ts';
import type { Connection } from '../connection.ts';
import { ADAPTER } from '../native-errors.ts';
import type { ReadTransaction } from '../transaction.ts';
import { take } from './take.ts';

/** What a look told. */
interface Look {
  readonly paused: boolean;
  /** A claim would find something. */
  readonly claimable: boolean;
  /** When the next job comes due or the next lease ends; infinite: nothing is known to come. */
  readonly nextInMs: number;
  readonly dataVersion: number;
}

/** Leases ready jobs; with `waitMs` waits for the first. Looks before it writes: an idle wait never takes the write lock. */
export async function claim(
  connection: Connection,
  capabilities: SqliteCapabilities,
  request: ClaimRequest,
): Promise<Claim> {
  checkClaim(capabilities, request);
  const { queue, timeoutMs, signal } = request;
  const waitEnd = performance.now() + request.waitMs;
  for (;;) {
    const seenRings = connection.bell.rings;
    const leasedAt = performance.now();
    const seen = await connection.read('claim', timeoutMs, (tx) => look(tx, request));
    if (isAborted(signal)) return { leases: [], paused: false, leasedAt };
    if (seen.claimable) {
      const found = await connection.write('claim', timeoutMs, (tx) => take(tx, request));
      if (found.leases.length > 0 || found.paused) return noted(connection, found);
    }
    const leftMs = waitEnd - performance.now();
    const nothing = noted(connection, { leases: [], paused: seen.paused, leasedAt });
    if (seen.paused || leftMs <= 0) return nothing;
    const forMs = Math.min(leftMs, seen.nextInMs);
    await connection.bell.wait({ queue, seenVersion: seen.dataVersion, seenRings, forMs, signal });
    if (!connection.isOpen || isAborted(signal)) return nothing;
  }
}

function isAborted(signal: AbortSignal | null): boolean {
  return signal?.aborted === true;
}

function noted(connection: Connection, answer: Claim): Claim {
  connection.noteClaim();
  return answer;
}

interface PeekRow {
  readonly paused: number;
  readonly ready: number;
  readonly known: number;
  readonly due: number | null;
  readonly until: number | null;
}

function look({ st, now }: ReadTransaction, { nonce, queue }: ClaimRequest): Look {
  const dataVersion = Number(st.dataVersion.get()?.['data_version']);
  const row = st.peek.get(nonce, queue) as PeekRow | undefined;
  if (row === undefined) return { paused: false, claimable: false, nextInMs: Infinity, dataVersion };
  const nextInMs = Math.min(row.due ?? Infinity, row.until ?? Infinity) - now;
  const claimable = row.ready === 1 || row.known === 1 || nextInMs <= 0;
  return { paused: row.paused === 1, claimable: claimable && row.paused === 0, nextInMs, dataVersion };
}

/** Throws LIMIT_EXCEEDED for a lease or a number that is not offered. */
export function checkClaim(capabilities: SqliteCapabilities, { max, leaseMs }: ClaimRequest): void {
  const { lease, batch } = capabilities;
  const details = { adapter: ADAPTER, operation: 'claim' };
  if (!(max >= 1 && max <= batch.maxItems)) {
    throw new SuretyError(
      'LIMIT_EXCEEDED',
      `A claim asks for 1 to ${batch.maxItems} jobs, not ${max}.`,
      details,
    );
  }
  if (leaseMs >= lease.minMs && leaseMs <= lease.maxMs) return;
  throw new SuretyError(
    'LIMIT_EXCEEDED',
    `A lease has ${lease.minMs} to ${lease.maxMs} ms, not ${leaseMs}.`,
    details,
  );
}
