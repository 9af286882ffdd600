/** The one store in which all contestants of a bench are measured, each run in a place of its own. */
export interface Store extends AsyncDisposable {
  /** As the store reports them itself; what a figure depends on. */
  readonly settings: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
  /** An empty place; answers its location. */
  create(): Promise<string>;
  /** Fresh statistics and nothing left to be written out, so that no run pays for the filling. */
  settle(location: string): Promise<void>;
  drop(location: string): Promise<void>;
  /** CPU time that the server has used so far, in microseconds; null where there is no server or it cannot be seen. */
  cpuUs(): Promise<number | null>;
}
