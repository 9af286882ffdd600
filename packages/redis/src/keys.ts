import { PRIORITY_LEVELS } from './capabilities.ts';

/** The keys of one queue, all under one hash tag, in the order in which the scripts want them. */
export interface QueueKeys {
  readonly hint: string;
  readonly ready: readonly string[];
  readonly enqueue: readonly (readonly string[])[];
  readonly enqueueOnTerms: readonly string[];
  readonly settleAndClaim: readonly string[];
  readonly renew: readonly string[];
  readonly counts: readonly string[];
  readonly lookup: readonly string[];
  readonly deadList: readonly string[];
  readonly redrive: readonly string[];
  readonly discard: readonly string[];
  readonly pause: readonly string[];
  readonly state: string;
  readonly dedupeOwner: readonly string[];
  readonly dedupeForget: readonly string[];
  readonly isKnown: readonly string[];
}

export function keysOf(prefix: string, queue: string): QueueKeys {
  const key = (name: string): string => `${prefix}:{${queue}}:${name}`;
  const [jobs, meta, errors] = [key('jobs'), key('meta'), key('errors')];
  const [claims, leased] = [key('claims'), key('leased')];
  const [scheduled, dead, state, hint] = [key('scheduled'), key('dead'), key('state'), key('hint')];
  const [done, past, dedupe, dedupeEnds] = [key('done'), key('past'), key('dedupe'), key('dedupe-ends')];
  const ready = Array.from({ length: PRIORITY_LEVELS }, (_, level) => key(`ready:${level}`));
  return {
    hint,
    ready,
    state,
    enqueue: ready.map((line) => [jobs, line, hint]),
    enqueueOnTerms: [jobs, scheduled, leased, claims, dedupe, dedupeEnds, hint, ...ready],
    settleAndClaim: [jobs, meta, errors, claims, leased, scheduled, dead, state, hint, ...ready, done, past],
    renew: [claims, leased],
    counts: [jobs, claims, leased, scheduled, dead, ...ready],
    lookup: [jobs, meta, errors, claims, leased, scheduled, dead, past, ...ready],
    deadList: [jobs, meta, errors, dead],
    redrive: [jobs, meta, dead, dedupe, hint, ...ready],
    discard: [jobs, meta, errors, dead],
    pause: [state, hint],
    dedupeOwner: [dedupe],
    dedupeForget: [dedupe, dedupeEnds],
    isKnown: [jobs, state],
  };
}

/** The names of all queues that were ever used under the prefix: the one key that belongs to no queue. */
export function registryKey(prefix: string): string {
  return `${prefix}:queues`;
}
