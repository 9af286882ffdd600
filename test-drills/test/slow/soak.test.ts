import type { FindingKind } from '@surety/history';
import { expect, it } from 'vitest';
import { SABOTEURS } from '../../../packages/conformance/src/saboteurs/all.ts';
import { FAULTS, JOBS, miniSoak, SEED } from '../mini-soak.ts';

const PAYLOADS = 'a history holds no payloads, headers or keys';
const VIEWS = 'what is shown moves no job';
const PAUSES = 'a history holds no pauses';
const LIMITS = 'what is refused, or comes first, is no matter of what becomes of a job';

/** What each planted bug comes to in the account of a soak, or why it comes to nothing there. */
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
const SHOWN = SABOTEURS.filter(({ id }) => typeof SHOWS[id] === 'string');
/** Runs in one process at once: they mostly wait. */
const AT_ONCE = 12;
const MOST_SEEDS = 6;
const WITHIN_MS = 300_000;
/** Only jobs that end their process over and over tell whether a loss is charged. */
const CRASHING = { crash: 2, drainMs: 120_000 };

it('has a line for every saboteur of the conformance suite', () => {
  expect(Object.keys(SHOWS).sort()).toEqual(SABOTEURS.map(({ id }) => id).sort());
});

it(
  'is whole on an honest store: nothing lost, nothing unfenced, every fault counted',
  async () => {
    const { findings, account, unfenced, faults } = await miniSoak((backend) => backend, CRASHING);
    expect(findings).toEqual([]);
    expect(unfenced).toBe(0);
    expect(account.lost).toBe(0);
    expect(account.accepted).toBeGreaterThanOrEqual(JOBS);
    // One whose victim was just gone does nothing.
    expect(faults).toBeGreaterThan(FAULTS / 2);
  },
  WITHIN_MS,
);

it(
  'finds every planted bug that moves a job',
  async () => {
    const found: Record<string, string> = {};
    const waiting = SHOWN.values();
    const run = async (): Promise<void> => {
      for (const { id, plant } of waiting) found[id] = await firstFound(id, plant);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, run));
    expect(found).toEqual(Object.fromEntries(SHOWN.map(({ id }) => [id, SHOWS[id]])));
  },
  WITHIN_MS,
);

/** A plan that meets the one moment is found by going on, as a soak does: several seeds, until one has it. */
async function firstFound(id: string, plant: (typeof SABOTEURS)[number]['plant']): Promise<string> {
  let last = '';
  for (let seed = SEED; seed < SEED + MOST_SEEDS; seed += 1) {
    const report = await miniSoak(plant(), id === 'forgets-to-charge-loss' ? CRASHING : undefined, seed);
    const kind = Object.keys(report.findingKinds).find((each) => each === SHOWS[id]);
    if (kind !== undefined) return kind;
    last = JSON.stringify(report.findings);
  }
  return last;
}
