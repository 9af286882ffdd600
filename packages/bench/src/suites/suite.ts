import type { BackendName } from '../contestants/registry.ts';
import type { Run } from '../report.ts';
import type { Store } from '../stores/store.ts';

export interface SuiteOptions {
  readonly jobs: number;
  readonly rounds: number;
  readonly concurrency: readonly number[];
}

export interface SuiteRequest {
  readonly backend: BackendName;
  readonly contestants: readonly string[];
  readonly store: Store;
  readonly options: SuiteOptions;
  /** Called as soon as a run has ended. */
  readonly onRun: (run: Run) => void;
}

/** One question to all contestants. */
export interface Suite {
  readonly name: string;
  run(request: SuiteRequest): Promise<readonly Run[]>;
}
