/** Which of the jobs 0 to `numbers - 1` a handler was started for. */
export class Seen {
  readonly #bits: Uint8Array;
  readonly #numbers: number;
  #starts = 0;
  #distinct = 0;

  constructor(numbers: number) {
    this.#numbers = numbers;
    this.#bits = new Uint8Array(Math.ceil(numbers / 8));
  }

  get starts(): number {
    return this.#starts;
  }

  get distinct(): number {
    return this.#distinct;
  }

  add(n: number): void {
    this.#starts += 1;
    const bits = this.#bits[n >> 3];
    const bit = 1 << (n & 7);
    if (bits === undefined || n >= this.#numbers) throw new Error(`there is no job ${n}`);
    if ((bits & bit) !== 0) return;
    this.#bits[n >> 3] = bits | bit;
    this.#distinct += 1;
  }

  /** For `distinctIn`, in a form that goes over a channel. */
  text(): string {
    return Buffer.from(this.#bits).toString('base64');
  }
}

/** How many different jobs several processes have seen together. */
export function distinctIn(texts: readonly string[]): number {
  const sets = texts.map((text) => Buffer.from(text, 'base64'));
  const all = new Uint8Array(Math.max(0, ...sets.map(({ length }) => length)));
  for (const set of sets) set.forEach((bits, place) => (all[place] = (all[place] ?? 0) | bits));
  let count = 0;
  for (const bits of all) for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
