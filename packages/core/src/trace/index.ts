export { recordEffect, recordStart } from './attempt-trace.ts';
export { type FinalRequest, type FinalState, recordFinal } from './final-state.ts';
export { openTrace, type Trace } from './trace-file.ts';
export {
  type AnswerKind,
  type CallError,
  type ClaimedLease,
  type EnqueuedJob,
  type FaultFacts,
  type FoundJob,
  type LineHead,
  TRACE_VERSION,
  type TracedSettlement,
  type TraceEvent,
  type TraceLine,
} from './trace-lines.ts';
export { traced } from './traced-backend.ts';
