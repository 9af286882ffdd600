export { type Account, accountLines } from './account.ts';
export { type CheckOptions, checkHistory, type HistoryReport, openJobs } from './check-history.ts';
export { FINDING_KINDS, type Finding, type FindingKind } from './finding.ts';
export { UnreadableTrace } from './reading/unreadable-trace.ts';
