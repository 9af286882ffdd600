import type { Contestant, Load } from '../contestants/contestant.ts';
import { fill, load } from '../contestants/fill.ts';
import type { Store } from './store.ts';

/** A place that is ready for a run. Disposing of it drops it. */
export interface Place extends AsyncDisposable {
  readonly location: string;
  /** What each of the jobs in it takes up; null when there are none. */
  readonly bytesPerJob: number | null;
}

interface Made {
  readonly location: string;
  readonly bytesPerJob: number | null;
}

/** Places with jobs in them. Where the store can copy, each content is made once and every run gets a copy. */
export class Stock {
  readonly #store: Store;
  readonly #originals = new Map<string, Promise<Made>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The contestant's tables and `jobs` ready jobs, stored by its own producer. */
  async take(contestant: Contestant, jobs: number): Promise<Place> {
    const wanted = { count: jobs, delayMs: 0 };
    if (this.#store.copy === undefined) return this.#place(await this.#make(contestant, wanted, fill));
    const key = `${contestant.name} ${jobs}`;
    const original = this.#originals.get(key) ?? this.#original(contestant, wanted);
    this.#originals.set(key, original);
    const { location, bytesPerJob } = await original;
    return this.#place({ location: await this.#store.copy(location), bytesPerJob });
  }

  /** So many jobs that they are loaded the quicker way. */
  async takeLoaded(contestant: Contestant, wanted: Load): Promise<Place> {
    return this.#place(await this.#make(contestant, wanted, load));
  }

  async #original(contestant: Contestant, wanted: Load): Promise<Made> {
    const made = await this.#make(contestant, wanted, fill);
    await this.#store.settle(made.location);
    return made;
  }

  async #make(contestant: Contestant, wanted: Load, how: typeof fill): Promise<Made> {
    const location = await this.#store.create();
    await contestant.prepare(location);
    const before = await this.#store.bytes(location);
    if (wanted.count === 0) return { location, bytesPerJob: null };
    await how(contestant, location, wanted);
    const stored = await jobsLeft(contestant, location);
    if (stored !== wanted.count)
      throw new Error(`${contestant.name} stored ${stored} of ${wanted.count} jobs`);
    const grown = (await this.#store.bytes(location)) - before;
    // A store that cannot be measured does not grow.
    return { location, bytesPerJob: grown > 0 ? grown / wanted.count : null };
  }

  #place(made: Made): Place {
    return { ...made, [Symbol.asyncDispose]: () => this.#store.drop(made.location) };
  }
}

/** Asked of the store itself. */
export async function jobsLeft(contestant: Contestant, location: string): Promise<number> {
  const observer = await contestant.observe(location);
  try {
    return await observer.jobsLeft();
  } finally {
    await observer.close();
  }
}
