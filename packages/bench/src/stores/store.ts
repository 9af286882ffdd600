/** The one store in which all contestants of a bench are measured, each run in a place of its own. */
export interface Store extends AsyncDisposable {
  /** As the store reports them itself; what a figure depends on. */
  readonly settings: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
  /** An empty place; answers its location. */
  create(): Promise<string>;
  /** A place with the same content as one that nobody uses. Left out: places cannot be copied. */
  copy?(location: string): Promise<string>;
  /** Fresh statistics, rubbish removed and nothing left to be written out, so that no run pays for what was before. */
  settle(location: string): Promise<void>;
  drop(location: string): Promise<void>;
  /** What the content of a place takes up. */
  bytes(location: string): Promise<number>;
  /** A session that looks at the place as it is now, and goes on seeing it so until disposed of. Left out: there is no such thing. */
  openTransaction?(location: string): Promise<AsyncDisposable>;
  /** CPU time that the server has used so far, in microseconds; null where there is no server or it cannot be seen. */
  cpuUs(): Promise<number | null>;
  /**
   * Counts from now on; what it answers tells what one job has cost in requests, from its enqueue to its completion. A run
   * that was cut stored more jobs than it handled: each part is shared out over the jobs that it was for. Left out: a
   * request is not what is paid for.
   */
  countRequests?(): Promise<(jobs: { stored: number; handled: number }) => Promise<number>>;
}
