/** What can be wrong with a history. */
export const FINDING_KINDS = {
  lost: 'accepted, and gone without an end',
  'two-holders': 'one copy was held by two at once',
  'fenced-settled': 'a holder whose lease was over settled all the same',
  'settled-twice': 'one copy was ended twice',
  'extra-copy': 'there was a copy that no enqueue, redrive or fault explains',
  'not-terminal': 'it was left waiting or leased',
  'attempts-exceeded': 'it was started more often than its limit allows',
  overcharged: 'it was charged for more attempts than it had',
  'dead-without-reason': 'it is dead, and nothing says why',
  early: 'it ran before it was due',
  'reclaimed-late': 'after its holder was lost it was not claimable again in time',
  'fence-repeated': 'its fence did not grow with a claim',
} as const;
Object.freeze(FINDING_KINDS);

/** See {@link FINDING_KINDS}. */
export type FindingKind = keyof typeof FINDING_KINDS;

/** One thing that the promises rule out, with the lines that prove it. */
export interface Finding {
  readonly kind: FindingKind;
  readonly jobId: string | null;
  /** `file:line`. */
  readonly lines: readonly string[];
  /** One sentence. */
  readonly what: string;
}
