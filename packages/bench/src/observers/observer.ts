/** Asks the store itself, by plain SQL, what is left. A contestant that forgets to complete is found out here. */
export interface Observer {
  /** Cheap enough to be asked again and again. */
  isEmpty(): Promise<boolean>;
  /** Jobs that are stored, in whatever state. */
  jobsLeft(): Promise<number>;
  close(): Promise<void>;
}
