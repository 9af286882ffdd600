import { serveChild } from '@surety/testbed';
import { loadContestant } from './contestants/registry.ts';
import type { ChildDrain } from './run-in-child.ts';
import { type DrainResult, timeDrain } from './suites/time-drain.ts';

/** The process that is measured. It runs one contestant only. */
serveChild({
  drain: async ({ backend, contestant, ...request }: ChildDrain): Promise<DrainResult> =>
    timeDrain(await loadContestant(backend, contestant), request),
});
