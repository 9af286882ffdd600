/** Calls listeners one by one. A listener that throws, or whose promise rejects, harms nobody: `onFault` hears of it. */
export class EventBus<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => unknown>>();
  readonly #onFault: (name: string, error: unknown) => void;

  constructor(onFault: (name: string, error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Adds a listener; the answer removes it. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => unknown): () => void {
    const set = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, set);
    set.add(listener);
    return () => void set.delete(listener);
  }

  /** Whether building an event is worth while. */
  heard(name: keyof Events): boolean {
    const set = this.#listeners.get(name);
    return set !== undefined && set.size > 0;
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    const set = this.#listeners.get(name);
    if (set === undefined) return;
    for (const listener of set) this.#call(String(name), listener as (event: Events[Name]) => unknown, event);
  }

  #call<Event>(name: string, listener: (event: Event) => unknown, event: Event): void {
    try {
      const answer = listener(event);
      if (answer instanceof Promise) answer.catch((error: unknown) => this.#onFault(name, error));
    } catch (error) {
      this.#onFault(name, error);
    }
  }
}
