import { FINDING_KINDS, type FindingKind } from '@surety/history';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chanceOf } from './support/chance.ts';
import { checkTexts } from './support/check-texts.ts';
import { modelRun, type RunOptions } from './support/model-run.ts';

const legal: fc.Arbitrary<RunOptions> = fc.record({
  seed: fc.nat(),
  jobs: fc.integer({ min: 1, max: 14 }),
  workers: fc.integer({ min: 1, max: 4 }),
  hosts: fc.integer({ min: 1, max: 3 }),
  unclear: fc.double({ min: 0, max: 0.3, noNaN: true }),
  stalls: fc.double({ min: 0, max: 0.3, noNaN: true }),
  deaths: fc.double({ min: 0, max: 0.1, noNaN: true }),
  plant: fc.constant(null),
});

/** Runs of the same settings until the planted fault has met so many. */
const PLANTED = 15;

describe('a legal history', () => {
  it('has no finding, whatever is unknown, lost or torn in it, and in whatever order its files are', async () => {
    await fc.assert(
      fc.asyncProperty(legal, fc.nat(), async (options, order) => {
        const { traces } = modelRun(options);
        const { findings, complete } = await checkTexts(rotated(traces, order));
        expect(findings).toEqual([]);
        expect(complete).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('has none either when answers are missing: they are unknown then', async () => {
    const answers = /"kind":"(enqueued|settled|renewed|redriven|discarded)"/;
    await fc.assert(
      fc.asyncProperty(
        legal,
        fc.nat(),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (options, seed, share) => {
          const chance = chanceOf(seed);
          const { traces } = modelRun(options);
          const fewer = traces.map((text) =>
            text
              .split('\n')
              .filter((line) => !answers.test(line) || !chance.of(share))
              .join('\n'),
          );
          expect((await checkTexts(fewer)).findings).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('accounts for all that was accepted', async () => {
    await fc.assert(
      fc.asyncProperty(legal, async (options) => {
        const { traces } = modelRun({ ...options, unclear: 0 });
        const { account } = await checkTexts(traces);
        expect(account.lost).toBe(0);
        expect(account.accepted).toBe(options.jobs);
        expect(account.completed + account.dead + account.discarded).toBe(options.jobs);
      }),
      { numRuns: 50 },
    );
  });
});

describe('a planted fault', () => {
  it.each(Object.keys(FINDING_KINDS) as FindingKind[])('%s is found, and nothing else', async (plant) => {
    let met = 0;
    for (let seed = 1; met < PLANTED; seed += 1) {
      expect(seed, 'the fault finds an occasion').toBeLessThan(40 * PLANTED);
      const unclear = seed % 2 === 0 ? 0 : 0.1;
      const run = modelRun({
        seed,
        jobs: 12,
        workers: 3,
        hosts: 1,
        unclear,
        stalls: 0.15,
        deaths: 0.03,
        plant,
      });
      const { findings } = await checkTexts(run.traces);
      const found = findings.map(({ kind, jobId }) => ({ kind, jobId }));
      if (run.planted === null) expect(found, `seed ${seed}`).toEqual([]);
      else {
        met += 1;
        expect(found, `seed ${seed}`).toEqual([{ kind: plant, jobId: run.planted }]);
        expect(findings[0]?.lines.length).toBeGreaterThan(0);
      }
    }
  });
});

function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const at = by % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
}
