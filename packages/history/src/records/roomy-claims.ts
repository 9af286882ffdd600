import type { ClaimRecord } from './records.ts';

/** Claims that could have brought more than they did, by host and queue: whatever was claimable then was left out. */
export class RoomyClaims {
  readonly #byPlace = new Map<
    string,
    { readonly at: number[]; readonly ansAt: number[]; readonly ref: number[]; sorted: boolean }
  >();

  add(host: string, { queue, at, ansAt, ansRef }: ClaimRecord): void {
    const key = `${host} ${queue}`;
    let place = this.#byPlace.get(key);
    if (place === undefined) {
      place = { at: [], ansAt: [], ref: [], sorted: true };
      this.#byPlace.set(key, place);
    }
    place.sorted = false;
    place.at.push(at);
    place.ansAt.push(ansAt);
    place.ref.push(ansRef);
  }

  /** The first `most` of them that were sent after `from` and answered before `to`: their answers. */
  between(host: string, queue: string, from: number, to: number, most: number): readonly number[] {
    const place = this.#byPlace.get(`${host} ${queue}`);
    if (place === undefined || from >= to) return [];
    if (!place.sorted) sort(place);
    const found: number[] = [];
    for (let index = firstAfter(place.at, from); index < place.at.length && found.length < most; index += 1) {
      if ((place.at[index] ?? 0) >= to) break;
      if ((place.ansAt[index] ?? 0) < to) found.push(place.ref[index] ?? 0);
    }
    return found;
  }
}

function sort(place: { at: number[]; ansAt: number[]; ref: number[]; sorted: boolean }): void {
  const { at, ansAt, ref } = place;
  const order = at.map((_, index) => index).sort((a, b) => (at[a] ?? 0) - (at[b] ?? 0));
  const reordered = [at, ansAt, ref].map((values) => order.map((index) => values[index] ?? 0));
  for (const [which, values] of [at, ansAt, ref].entries()) {
    const sorted = reordered[which] ?? [];
    for (let index = 0; index < values.length; index += 1) values[index] = sorted[index] ?? 0;
  }
  place.sorted = true;
}

/** The first index whose value is above `limit`. */
function firstAfter(values: readonly number[], limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
