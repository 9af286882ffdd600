/** A claim that waits for a first job. Whoever makes jobs ready, pauses or changes a connection asks it to look again. */
export interface Waiter {
  /** Looks again; once it has its answer it removes itself from the queue. */
  readonly look: () => void;
}
