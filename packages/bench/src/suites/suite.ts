import type { BackendName, SuiteName } from '../contestants/registry.ts';
import type { Run } from '../report.ts';
import type { Stock } from '../stores/stock.ts';
import type { Store } from '../stores/store.ts';

export interface SuiteOptions {
  /** Those to run. */
  readonly suites: readonly SuiteName[];
  /** Of a usual run; others have a part or a multiple of it. */
  readonly jobs: number;
  /** Of the same kind, worked off before a run by its process. */
  readonly warmUp: number;
  readonly rounds: number;
  /** Of the suite `drain`; the others have one of their own. */
  readonly concurrency: readonly number[];
  /** Jobs of a large backlog. */
  readonly backlog: number;
  /** A run that is not through by then is cut, and its rates are those until then. */
  readonly limitMs: number;
}

export interface SuiteRequest {
  readonly backend: BackendName;
  readonly store: Store;
  readonly stock: Stock;
  readonly options: SuiteOptions;
  /** Called as soon as a run has ended. */
  readonly onRun: (run: Run) => void;
}

/** One question to all contestants. */
export interface Suite {
  /** By which it is asked for; several that belong together may share it. */
  readonly name: SuiteName;
  run(request: SuiteRequest): Promise<readonly Run[]>;
}
