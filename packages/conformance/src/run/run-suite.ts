import { randomInt } from 'node:crypto';
import type { Case } from '../case.ts';
import { CASES } from '../catalogue.ts';
import type { Harness } from '../harness.ts';
import type { Wrap } from '../stage/stage.ts';
import { within } from '../stage/waiting.ts';
import { type Report, removeReport, suiteVersion, totalsOf, writeReport } from './report.ts';
import { runCase } from './run-case.ts';
import { type CaseResult, reasonNotToRun, type Waiver, waiverOf } from './verdict.ts';

/** What to ask and of whom. */
export interface SuiteOptions {
  readonly harness: Harness;
  readonly cost?: 'quick' | 'all';
  /** Ids that start so. */
  readonly only?: string;
  readonly waivers?: readonly Waiver[];
  readonly seed?: number;
  /** Where the report goes; removed first. Left out: none is written. */
  readonly reportFile?: string;
  readonly onResult?: (result: CaseResult) => void;
  /** The harness is prepared and destroyed by the caller. */
  readonly prepared?: boolean;
  readonly wrap?: Wrap;
}

/** Cases at once, unless one must be alone. A virtual clock is shared by all, so there it is one. */
const PARALLEL = 4;
const PREPARE_LIMIT_MS = 300_000;

/** Cases that a run asks for. */
export function selectCases(cost: 'quick' | 'all', only = ''): readonly Case[] {
  return CASES.filter(
    (subject) => (cost === 'all' || subject.cost === 'quick') && subject.id.startsWith(only),
  );
}

/** Runs the suite and says what it found. Throws only when harness or options are broken. */
export async function runSuite(options: SuiteOptions): Promise<Report> {
  const { harness } = options;
  if (options.reportFile !== undefined) removeReport(options.reportFile);
  if (options.prepared !== true) await within('prepare of the harness', PREPARE_LIMIT_MS, harness.prepare());
  try {
    const report = await askAll(options);
    if (options.reportFile !== undefined) writeReport(options.reportFile, report);
    return report;
  } finally {
    if (options.prepared !== true)
      await within('destroy of the harness', PREPARE_LIMIT_MS, harness.destroy());
  }
}

async function askAll(options: SuiteOptions): Promise<Report> {
  const { harness, cost = 'all', only = '' } = options;
  const versions = await harness.versions();
  const { capabilities, contractVersion } = harness.backend();
  const subjects = selectCases(cost, only);
  const results = await inTurn(subjects, harness, (subject) => ask(subject, options));
  return {
    backend: harness.name,
    variant: harness.variant,
    versions,
    suite: suiteVersion(),
    contractVersion,
    capabilities,
    date: new Date().toISOString(),
    complete: cost === 'all' && only === '',
    totals: totalsOf(results),
    cases: results,
  };
}

/** Several at once, then those that must be alone one by one; results in the order of the cases. */
async function inTurn(
  subjects: readonly Case[],
  harness: Harness,
  work: (subject: Case) => Promise<CaseResult>,
): Promise<readonly CaseResult[]> {
  const results = new Map<string, CaseResult>();
  const sociable = harness.advance === undefined ? subjects.filter((subject) => !subject.alone) : [];
  const alone = subjects.filter((subject) => !sociable.includes(subject));
  const lanes = [
    { lane: [...sociable], width: PARALLEL },
    { lane: [...alone], width: 1 },
  ];
  for (const { lane, width } of lanes) {
    const serve = async (): Promise<void> => {
      for (let subject = lane.shift(); subject !== undefined; subject = lane.shift()) {
        results.set(subject.id, await work(subject));
      }
    };
    await Promise.all(Array.from({ length: width }, serve));
  }
  return subjects.flatMap((subject) => results.get(subject.id) ?? []);
}

async function ask(subject: Case, options: SuiteOptions): Promise<CaseResult> {
  const result = await judge(subject, options);
  options.onResult?.(result);
  return result;
}

async function judge(subject: Case, options: SuiteOptions): Promise<CaseResult> {
  const { id, guarantee } = subject;
  const { harness, waivers = [] } = options;
  const idle = reasonNotToRun(subject, harness.backend().capabilities, harness);
  if (idle !== null) return { id, guarantee, ...idle, ms: 0 };
  const seed = options.seed ?? randomInt(1, 2 ** 31);
  const { failure, ms } = await runCase(subject, harness, seed, options.wrap);
  if (failure === null) return { id, guarantee, status: 'proven', reason: null, ms };
  const waiver = waiverOf(id, waivers, new Date().toISOString().slice(0, 10));
  if (waiver === null) return { id, guarantee, status: 'failed', reason: failure, ms };
  return {
    id,
    guarantee,
    status: 'waived',
    reason: `${waiver.reason} (until ${waiver.until}): ${failure}`,
    ms,
  };
}
