import type { Contestant } from '../contestants/contestant.ts';
import { contestantNames, loadContestant, type SuiteName } from '../contestants/registry.ts';
import type { Run, RunFigures } from '../report.ts';
import type { SuiteRequest } from './suite.ts';

interface Turn {
  readonly contestant: Contestant;
  readonly concurrency: number;
}

export interface Turns {
  /** For the contestants that take part in it. */
  readonly suite: SuiteName;
  /** In the report; the suite's name when left out. */
  readonly title?: string;
  readonly concurrency: readonly number[];
  readonly measure: (turn: Turn) => Promise<RunFigures>;
}

/** Handlers at the same time where that is not the question. */
export const USUAL_CONCURRENCY = 50;

/** Every contestant once a round and concurrency. Whoever comes second may find the machine in another state: the order turns about. */
export async function inTurns(
  { backend, options, onRun }: SuiteRequest,
  { suite, title = suite, concurrency: concurrencies, measure }: Turns,
): Promise<readonly Run[]> {
  const contestants = await Promise.all(
    contestantNames(backend, suite).map((name) => loadContestant(backend, name)),
  );
  const runs: Run[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    const order = round % 2 === 1 ? contestants : contestants.toReversed();
    for (const concurrency of concurrencies) {
      for (const contestant of order) {
        const figures = await measure({ contestant, concurrency }).catch(failedRun);
        const run = { suite: title, round, concurrency, contestant: contestant.name, ...figures };
        runs.push(run);
        onRun(run);
      }
    }
  }
  return runs;
}

/** What a process says in its end can be pages long. */
const FAILURE_CHARACTERS = 300;

/** One contestant that breaks shall not take the figures of the others with it. */
function failedRun(error: unknown): RunFigures {
  const whole = error instanceof Error ? error.message : String(error);
  const failure = whole.length > FAILURE_CHARACTERS ? `${whole.slice(0, FAILURE_CHARACTERS)}…` : whole;
  return { jobs: 0, cut: false, left: 0, failure, values: {} };
}
