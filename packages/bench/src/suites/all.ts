import { drain } from './drain.ts';
import type { Suite } from './suite.ts';

/** In the order in which they run. */
export const SUITES: readonly Suite[] = [drain];
