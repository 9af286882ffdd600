import type { LeaseRecord } from '../records/records.ts';
import { isAfter, type Judgement, sameClock } from './judgement.ts';

/** One copy has one holder at a time, and each holder a fence of its own (G2.2, G2.7). */
export function judgeHolders(judgement: Judgement): void {
  const { job, leases, terms } = judgement;
  if (job.doubled !== null)
    return judgement.report('two-holders', job.doubled, 'One token was given to two claims.');
  judgeFences(judgement);
  // A lost connection ends a lease at any time: its length then says nothing.
  if (terms.endsBy !== 'time' || judgement.hasAny('fence-repeated')) return;
  const holders = [...leases].sort((a, b) => a.claim.ansAt - b.claim.ansAt);
  /** Of each host and copy, the one that is held longest so far. */
  const longest = new Map<string, LeaseRecord>();
  for (const lease of holders) {
    if (terms.moves === 'copy' && lease.copy === null) continue;
    const key = `${lease.claim.process.host} ${lease.copy}`;
    const held = longest.get(key);
    if (held !== undefined && overlap(held, lease, terms.slackMs)) {
      return judgement.report(
        'two-holders',
        [held.claim.ansRef, lease.claim.ref, lease.claim.ansRef],
        `It was handed out again ${ms(holdEnd(held) - lease.claim.ansAt)} before the lease of its holder could end.`,
      );
    }
    if (held === undefined || holdEnd(lease) > holdEnd(held)) longest.set(key, lease);
  }
}

function judgeFences(judgement: Judgement): void {
  const { leases, terms, lives } = judgement;
  if (terms.fence !== 'monotonic' || lives > 1) return;
  for (const [index, lease] of leases.entries()) {
    const earlier = leases[index - 1];
    if (earlier === undefined || earlier.nonce === lease.nonce) continue;
    const stands = earlier.fence === lease.fence;
    // In the order of their fences: claimed in the other order all the same.
    const fell = !stands && isAfter(earlier, lease, false);
    if (!stands && !fell) continue;
    const refs = [earlier.claim.ansRef, lease.claim.ansRef];
    return judgement.report(
      'fence-repeated',
      refs,
      `Two claims of it have the fences ${earlier.fence} and ${lease.fence}.`,
    );
  }
}

/** Whether both held it at one instant, whenever within their claims the leases began. */
function overlap(a: LeaseRecord, b: LeaseRecord, slackMs: number): boolean {
  if (!sameClock(a.claim, b.claim)) return false;
  return a.claim.ansAt + slackMs < holdEnd(b) && b.claim.ansAt + slackMs < holdEnd(a);
}

/** Until here it was certainly held: to the lease's end, or to the first settlement, which may have counted at once. */
function holdEnd({ endMin, settles }: LeaseRecord): number {
  return Math.min(endMin, settles[0]?.at ?? Infinity);
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}
