import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Call, isPossible, type Seen, traceOf } from './support/brute-force.ts';
import { checkTexts } from './support/check-texts.ts';

const from = fc.integer({ min: 0, max: 9 });
const length = fc.integer({ min: 0, max: 2 });

/** A few calls of one job with any answers at all: some can have been, most cannot. */
const seen: fc.Arbitrary<Seen> = fc
  .record({
    enqueue: fc.record({ to: length, answer: fc.constantFrom('accepted' as const, 'unknown' as const) }),
    claims: fc.array(
      fc.record({
        from,
        length,
        isAnswered: fc.oneof(
          { weight: 9, arbitrary: fc.constant(true) },
          { weight: 1, arbitrary: fc.constant(false) },
        ),
        charged: fc.integer({ min: 0, max: 1 }),
        settle: fc.option(
          fc.record({
            after: fc.integer({ min: 0, max: 4 }),
            length,
            does: fc.constantFrom('complete' as const, 'retry' as const),
            answer: fc.constantFrom('settled' as const, 'lease-lost' as const, 'unknown' as const),
          }),
          { freq: 6 },
        ),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    held: fc.boolean(),
  })
  .map(({ enqueue, claims, held }) => {
    const calls: Call[] = [{ verb: 'enqueue', from: 0, ...enqueue }];
    let attempt = 0;
    for (const [index, claim] of claims.toSorted((a, b) => a.from - b.from).entries()) {
      const number = calls.length;
      attempt += index === 0 ? 1 : claim.charged;
      const to = claim.from + claim.length;
      const answer = claim.isAnswered ? { attempt, fence: index + 1 } : ('unknown' as const);
      calls.push({ verb: 'claim', from: claim.from, to, answer });
      if (claim.settle === null || !claim.isAnswered) continue;
      const { after, length: takes, ...rest } = claim.settle;
      calls.push({
        verb: 'settle',
        claim: number,
        from: to + 1 + after,
        to: to + 1 + after + takes,
        ...rest,
      });
    }
    return { calls, held };
  });

/** A job that is left waiting is a finding and no impossibility. */
const isImpossible = (kind: string): boolean => kind !== 'not-terminal';

it('reports only what no order and no moment of the calls can explain', async () => {
  const tally = { possible: 0, impossible: 0, found: 0 };
  await fc.assert(
    fc.asyncProperty(seen, async (history) => {
      const { findings } = await checkTexts([traceOf(history)]);
      const found = findings.filter(({ kind }) => isImpossible(kind));
      if (isPossible(history)) {
        tally.possible += 1;
        expect(found).toEqual([]);
        return;
      }
      tally.impossible += 1;
      if (found.length > 0) tally.found += 1;
    }),
    { numRuns: 800 },
  );
  // Both kinds were met, and most of what cannot have been was found.
  expect(tally.possible).toBeGreaterThan(40);
  expect(tally.found / tally.impossible).toBeGreaterThan(0.5);
});
