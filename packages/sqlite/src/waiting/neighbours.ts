/** Hears that another backend of this process made something claimable. */
export type Listener = (queues: ReadonlySet<string>) => void;

/**
 * Backends of this process by the file that they have open. It only shortens the way of a signal that would also come
 * through the file: what is lost here costs a poll's delay, nothing else. Empty when no backend is open.
 */
const listeners = new Map<string, Set<Listener>>();

/** Adds a listener of a file. */
export function joinFile(key: string, listener: Listener): void {
  const set = listeners.get(key) ?? new Set();
  set.add(listener);
  listeners.set(key, set);
}

/** Takes the listener away. */
export function leaveFile(key: string, listener: Listener): void {
  const set = listeners.get(key);
  if (set === undefined) return;
  set.delete(listener);
  if (set.size === 0) listeners.delete(key);
}

/** Tells every backend of the file, the caller's among them. */
export function tellFile(key: string, queues: ReadonlySet<string>): void {
  for (const listener of listeners.get(key) ?? []) listener(queues);
}
