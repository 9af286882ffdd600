import type { Mix } from './jobs.ts';

/** A process of the soak: a worker or a producer. */
export type Role = 'worker' | 'producer';

/** What an actor is told at its start, as JSON. */
export interface ActorTask {
  readonly name: string;
  readonly role: Role;
  readonly queue: string;
  /** File for its part of the history. */
  readonly trace: string;
  readonly seed: number;
  readonly leaseMs: number;
  /** Limit of a call to the store. */
  readonly callMs: number;
  readonly mix: Mix;
  readonly longestDelayMs: number;
  /** Producer: how many jobs, and how many a second. */
  readonly jobs: number;
  readonly perSecond: number;
  /** Worker: jobs that end their process do it here. */
  readonly mayCrash: boolean;
  /** It goes over this road, by its number; null: straight. */
  readonly road: number | null;
}

/** What an actor has done so far. */
export interface ActorState {
  readonly accepted: number;
  /** Attempts that ended, however. */
  readonly attempts: number;
  /** The producer has no more to do. */
  readonly isDone: boolean;
  readonly heapBytes: number;
  readonly rssBytes: number;
  /** What did not work out and should have; empty in the usual case. */
  readonly complaint: string | null;
}

/** An actor at work, and what can be done to it. */
export interface Actor {
  readonly task: ActorTask;
  readonly state: ActorState;
  readonly running: boolean;
  /** Resolves when it has ended, however. */
  readonly exited: Promise<void>;
  /** As SIGKILL: nothing is flushed or given back. */
  kill(): Promise<void>;
  /** As SIGSTOP and SIGCONT. */
  freeze(): void;
  thaw(): void;
  setClock(skewMs: number): void;
  /** In good order. */
  stop(): Promise<void>;
}

/** Starts an actor; resolves once it is at work. */
export type StartActor = (task: ActorTask) => Promise<Actor>;

export const NO_STATE: ActorState = {
  accepted: 0,
  attempts: 0,
  isDone: false,
  heapBytes: 0,
  rssBytes: 0,
  complaint: null,
};
