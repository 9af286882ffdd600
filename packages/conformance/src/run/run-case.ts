import type { Case } from '../case.ts';
import type { Harness } from '../harness.ts';
import { seededRandom } from '../stage/random.ts';
import { setStage, type Wrap } from '../stage/stage.ts';
import { within } from '../stage/waiting.ts';

/** Closing what a case left open may not hang the suite either. */
const STRIKE_LIMIT_MS = 30_000;

/** How one case ended. */
export interface CaseEnd {
  readonly failure: string | null;
  readonly ms: number;
}

/** Runs one case to its end, within its time; never throws. */
export async function runCase(subject: Case, harness: Harness, seed: number, wrap?: Wrap): Promise<CaseEnd> {
  const from = performance.now();
  const stage = setStage(harness, seededRandom(seed), wrap);
  let failure = await failureOf(within('the case', subject.timeoutMs, subject.run(stage.context)));
  const closing = await failureOf(within('the end of the case', STRIKE_LIMIT_MS, stage.strike()));
  failure ??= closing;
  return {
    failure: failure === null ? null : `${failure} (seed ${seed})`,
    ms: Math.round(performance.now() - from),
  };
}

async function failureOf(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    return describeFailure(error);
  }
}

/** Message, where it was asserted, and the chain of causes. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const where = /(cases\/[\w.-]+:\d+)/.exec(error.stack ?? '')?.[1];
  const cause = error.cause === undefined ? '' : `; because: ${describeFailure(error.cause)}`;
  return `${error.message.trim()}${where === undefined ? '' : ` [${where}]`}${cause}`;
}
