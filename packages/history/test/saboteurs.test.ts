import type { FindingKind } from '@surety/history';
import { expect, it } from 'vitest';
import { SABOTEURS } from '../../conformance/src/saboteurs/all.ts';
import { tracedLoad } from './support/traced-load.ts';

const PAYLOADS = 'a history holds no payloads, headers or keys';
const VIEWS = 'what is shown moves no job';
const PAUSES = 'a history holds no pauses';
const LIMITS = 'what is refused, or comes first, is no matter of what becomes of a job';

/** What each planted bug leaves in a history, or why it leaves nothing there. */
const SHOWS: Readonly<Record<string, FindingKind | { readonly not: string }>> = {
  'acknowledges-before-storing': 'lost',
  'acknowledges-before-storing-in-another-process': 'lost',
  'duplicates-batch-item': 'extra-copy',
  'bad-item-fails-batch': 'extra-copy',
  'swallows-unknown': 'lost',
  'hangs-when-away': { not: 'an answer that never comes is unknown, and that is legal' },
  'forgets-id': 'extra-copy',
  'dedupe-not-atomic': { not: PAYLOADS },
  'dedupe-ends-with-job': { not: PAYLOADS },
  'ignores-max-depth': { not: LIMITS },
  'ignores-priority': { not: LIMITS },
  'reserialises-payload': { not: PAYLOADS },
  'cuts-at-nul': { not: PAYLOADS },
  'hands-out-early': 'early',
  'delays-fit-a-timer': { not: 'a job that is due in a month has no end in a run that ends' },
  'forgets-token': 'fenced-settled',
  'accepts-late-settle': 'fenced-settled',
  'renews-after-expiry': 'two-holders',
  'adds-renewals': 'reclaimed-late',
  'forgets-renewals': 'two-holders',
  'hands-to-two': 'two-holders',
  'more-than-max': { not: LIMITS },
  'pops-on-claim': 'lost',
  'pops-on-claim-in-another-process': 'lost',
  'replays-as-new-claim': {
    not: 'what a lost answer held is lost for one lease, as if nobody had asked again',
  },
  'fence-stands-still': 'fence-repeated',
  'close-releases': 'two-holders',
  'ignores-abort': { not: 'a claim that waits too long moves no job' },
  'forgets-to-charge-loss': 'attempts-exceeded',
  'charges-release': 'overcharged',
  'retries-at-once': 'early',
  'forgets-unknown-type': { not: PAYLOADS },
  'forgets-loss-backoff': { not: PAYLOADS },
  'loses-headers-on-retry': { not: PAYLOADS },
  'new-key-per-delivery': { not: PAYLOADS },
  'counts-scheduled-as-ready': { not: VIEWS },
  'ages-from-enqueue': { not: VIEWS },
  'ended-leases-stay-leased': { not: VIEWS },
  'hides-paused-queues': { not: VIEWS },
  'drops-error-of-the-dead': 'dead-without-reason',
  'deletes-instead-of-burying': 'lost',
  'keeps-every-error': { not: VIEWS },
  'redrive-keeps-attempts': 'overcharged',
  'redrive-doubles': 'extra-copy',
  'discard-only-hides': 'extra-copy',
  'ignores-pause': { not: PAUSES },
  'pauses-one-process': { not: PAUSES },
  'health-is-process-exists': { not: VIEWS },
};

it('has a line for every saboteur of the conformance suite', () => {
  expect(Object.keys(SHOWS).sort()).toEqual(SABOTEURS.map(({ id }) => id).sort());
});

it('finds nothing in the same load without a bug', async () => {
  const { findings, complete, account } = await tracedLoad((backend) => backend);
  expect(findings).toEqual([]);
  expect(complete).toBe(true);
  expect(account).toMatchObject({ lost: 0, redriven: 2, discarded: 2 });
});

it.concurrent.each(SABOTEURS.filter(({ id }) => typeof SHOWS[id] === 'string'))(
  'finds $id in a history',
  async (saboteur) => {
    const { findings } = await tracedLoad(saboteur.plant());
    expect(findings.map(({ kind }) => kind)).toContain(SHOWS[saboteur.id]);
    for (const { lines } of findings) expect(lines.length).toBeGreaterThan(0);
  },
);
