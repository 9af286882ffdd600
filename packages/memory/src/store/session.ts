import type { Copy } from './copy.ts';

/**
 * One connection between a backend and the store; a new one takes its place when it breaks. Where leases end by
 * connection, `held` are those that end with it.
 */
export interface Session {
  /** Whether anything ever came through. What is sent on one that never stood was certainly not received. */
  established: boolean;
  /** Up; silent without a sign (nothing arrives); or deaf: requests arrive and are acted on, answers do not come back. */
  line: 'up' | 'silent' | 'answers-lost';
  broken: boolean;
  readonly held: Set<Copy>;
}

/** A session over which nothing has gone yet. */
export function newSession(): Session {
  return { established: false, line: 'up', broken: false, held: new Set() };
}
