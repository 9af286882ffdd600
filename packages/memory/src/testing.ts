export { createVirtualClock, type VirtualClock } from './clock/virtual-clock.ts';
export type { DrainOptions, DrainReport } from './testing/drain.ts';
export type { EnqueuedExpectation, EnqueuedJob } from './testing/enqueued-jobs.ts';
export { createTestKit, type TestKit, type TestKitOptions } from './testing/test-kit.ts';
