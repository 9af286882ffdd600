/** Stands for every value beyond a limit; the word of OpenTelemetry's conventions. */
export const OTHER = '_OTHER';

/**
 * Keeps the number of values of a label finite: the first `limit` distinct ones are let through, for good, and all later ones share
 * {@link OTHER}. A time series that has begun therefore never changes its name.
 */
export class BoundedNames {
  readonly #limit: number;
  readonly #known = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  label(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= this.#limit) return OTHER;
    this.#known.add(name);
    return name;
  }
}
