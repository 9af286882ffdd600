import type { FindingKind } from '@surety/history';
import { describe, expect, it } from 'vitest';
import { SABOTEURS } from '../../conformance/src/saboteurs/all.ts';
import { checkTexts } from './support/check-texts.ts';
import { CopyTrace } from './support/copy-trace.ts';
import { tracedLoad } from './support/traced-load.ts';

/** Far more than any broker does. */
const FAULTS = { duplicate: 0.05, emptyClaim: 0.1, unknownSettle: 0.08 };
const SEEDS = 30;
const AT_ONCE = 10;

/**
 * What planted bugs leave in the history of a store whose moves are copies. Fences, dedupe and lookups are not there; who holds a job after its
 * connection may be gone is not judged, but what such a holder settles is.
 */
const SHOWS: Readonly<Record<string, FindingKind>> = {
  'acknowledges-before-storing': 'lost',
  'acknowledges-before-storing-in-another-process': 'lost',
  'duplicates-batch-item': 'extra-copy',
  'bad-item-fails-batch': 'extra-copy',
  'swallows-unknown': 'lost',
  'hands-out-early': 'early',
  'forgets-token': 'fenced-settled',
  'accepts-late-settle': 'fenced-settled',
  'hands-to-two': 'two-holders',
  'pops-on-claim': 'lost',
  'pops-on-claim-in-another-process': 'lost',
  'forgets-to-charge-loss': 'attempts-exceeded',
  'retries-at-once': 'early',
  'drops-error-of-the-dead': 'dead-without-reason',
  'deletes-instead-of-burying': 'lost',
};

it('finds nothing in loads over a store that doubles, forgets and keeps silent, whatever the seed', async () => {
  const kinds = new Set<string>();
  let unknown = 0;
  for (let from = 1; from <= SEEDS; from += AT_ONCE) {
    const seeds = Array.from({ length: AT_ONCE }, (_, index) => from + index);
    const reports = await Promise.all(
      seeds.map((seed) => tracedLoad((backend) => backend, { seed, faults: FAULTS })),
    );
    for (const [index, { findings, complete, account }] of reports.entries()) {
      expect(findings, `seed ${seeds[index]}`).toEqual([]);
      expect(complete).toBe(true);
      for (const kind of Object.keys(account.faults)) kinds.add(kind);
      unknown += account.unknownAnswers;
    }
  }
  // The faults were there.
  expect([...kinds]).toEqual(['broker-duplicate']);
  expect(unknown).toBeGreaterThan(SEEDS);
}, 120_000);

it.concurrent.each(SABOTEURS.filter(({ id }) => id in SHOWS))(
  'finds $id where moves are copies, with and without the faults of the store',
  async (saboteur) => {
    const quiet = { duplicate: 0, emptyClaim: 0, unknownSettle: 0 };
    for (const faults of [quiet, FAULTS]) {
      const { findings } = await tracedLoad(saboteur.plant(), { seed: 7, faults });
      expect(findings.map(({ kind }) => kind)).toContain(SHOWS[saboteur.id]);
    }
  },
  120_000,
);

describe('a copy', () => {
  const found = async (...traces: readonly CopyTrace[]): Promise<readonly FindingKind[]> => {
    const { findings } = await checkTexts(traces.map(({ text }) => text));
    return findings.map(({ kind }) => kind);
  };
  /** One process: its job is enqueued, and claimed as the copy `first`. */
  const claimed = (): CopyTrace => new CopyTrace('one').enqueue().claim(1, 'first');

  it('that is completed and dead is one too many', async () => {
    expect(await found(claimed().settle(1, 'complete').dead(1).end())).toContain('extra-copy');
    const both = claimed().settle(1, 'complete').claim(2, 'second').settle(2, 'bury').dead(1);
    expect(await found(both.end())).toEqual(['extra-copy']);
  });

  it('beyond the first is explained by a fault that names the job', async () => {
    const both = claimed()
      .fault({ jobs: [CopyTrace.JOB] })
      .settle(1, 'complete');
    expect(await found(both.claim(2, 'second').settle(2, 'bury').dead(1).end())).toEqual([]);
  });

  it('is explained by each unknown answer to a move, and by none to a completion', async () => {
    const twice = claimed().settle(1, 'retry', 'unknown').settle(1, 'retry', 'unknown').settle(1, 'complete');
    const thrice = twice.claim(2, 'b').settle(2, 'complete').claim(3, 'c').settle(3, 'complete');
    expect(await found(thrice.end())).toEqual([]);
    const completed = claimed().settle(1, 'complete', 'unknown').claim(2, 'b').settle(2, 'complete');
    expect(await found(completed.claim(3, 'c').settle(3, 'complete').end())).toEqual(['extra-copy']);
  });

  it('may come back when the broker ends, after any settlement, and only then', async () => {
    const again = (trace: CopyTrace): CopyTrace => trace.claim(2, 'b').settle(2, 'complete');
    const undone = (): CopyTrace => claimed().settle(1, 'retry').fault({ mayUndo: true });
    expect(await found(again(undone()).claim(3, 'first').settle(3, 'complete').end())).toEqual([]);
    const kept = again(claimed().settle(1, 'retry')).claim(3, 'first').settle(3, 'complete');
    expect(await found(kept.end())).toEqual(['extra-copy']);
  });

  it('has one holder where leases end by time only, and a late one settles nothing where they end with a connection', async () => {
    const twice = (trace: CopyTrace): CopyTrace =>
      trace.enqueue().claim(1, 'a').claim(2, 'a').settle(2, 'complete');
    const byTime = twice(new CopyTrace('one', null, 'time'));
    expect(await found(byTime.settle(1, 'complete', 'lease-lost').end())).toEqual(['two-holders']);
    const byConnection = (outcome: string): CopyTrace =>
      twice(new CopyTrace('one')).settle(1, 'complete', outcome).end();
    expect(await found(byConnection('lease-lost'))).toEqual([]);
    expect(await found(byConnection('settled'))).toEqual(['fenced-settled']);
  });

  it('that two settle is found though their hosts have no common clock', async () => {
    const other = new CopyTrace('two').claim(1, 'first').settle(1, 'complete');
    expect(await found(claimed().settle(1, 'complete').end(), other)).toEqual(['settled-twice']);
  });

  it('may be doubled by a process that died while the job was put off', async () => {
    const twice = (dies: boolean): CopyTrace[] => {
      const mover = new CopyTrace('mover').note();
      const trace = new CopyTrace('one', mover).enqueue(100).claim(1, 'a').settle(1, 'complete');
      trace.claim(2, 'b').settle(2, 'complete').end();
      return [trace, dies ? mover : mover.close()];
    };
    expect(await found(...twice(true))).toEqual([]);
    expect(await found(...twice(false))).toEqual(['extra-copy']);
  });

  it('may be doubled by a process that died while it gave the job back, unclaimed but charged', async () => {
    const twice = (attempt: number): CopyTrace[] => {
      const mover = new CopyTrace('mover').note();
      const trace = new CopyTrace('one', mover).enqueue().claim(1, 'a', attempt).settle(1, 'complete');
      return [trace.claim(2, 'b').settle(2, 'complete').end(), mover];
    };
    expect(await found(...twice(2))).toEqual([]);
    expect(await found(...twice(1))).toEqual(['extra-copy']);
  });

  it('that is nowhere at the end is lost, though leased ones cannot be counted; a dead letter as well', async () => {
    expect(await found(claimed().settle(1, 'retry').end())).toEqual(['lost']);
    const buried = claimed()
      .settle(1, 'bury')
      .fault({ jobs: [CopyTrace.JOB] });
    expect(await found(buried.claim(2, 'b').settle(2, 'complete').end())).toEqual(['lost']);
  });
});
