import type { Crew } from './crew.ts';
import type { SoakPlace } from './soak-place.ts';

/** What is looked at again and again. */
interface Sample {
  readonly atMs: number;
  readonly connections: number | null;
  /** Heap of each veteran, by name. */
  readonly heap: Readonly<Record<string, number>>;
}

/** What grew, or did not. Bytes and connections at the begin and at the end of the load. */
export interface Growth {
  readonly heapMb: Readonly<Record<string, readonly [number, number]>>;
  readonly mostHeapMb: number;
  /** Usual early in the run, most, usual late. Pools fill under load: only what goes on growing is a leak. */
  readonly connections: readonly [number, number, number] | null;
}

const EVERY_MS = 2000;
const MB = 2 ** 20;
/** Too few samples to tell growth from the moment that a collection came. */
const LEAST_SAMPLES = 30;
/** Heap in use after collections may vary by this much: caches that fill, jobs under way. */
const HEAP_SLACK_MB = 24;
const CONNECTION_SLACK = 6;

/** Looks at memory and connections while a soak goes on. */
export class Watch {
  readonly #place: SoakPlace;
  readonly #crew: Crew;
  readonly #samples: Sample[] = [];
  readonly #from = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor(place: SoakPlace, crew: Crew) {
    this.#place = place;
    this.#crew = crew;
    this.#timer = setInterval(() => this.look(), EVERY_MS);
  }

  look(): void {
    const heap = Object.fromEntries(
      this.#crew
        .veterans()
        .map(({ task, state }) => [task.name, state.heapBytes] as const)
        .filter(([, bytes]) => bytes > 0),
    );
    const atMs = performance.now() - this.#from;
    this.#samples.push({ atMs, connections: this.#place.connections?.() ?? null, heap });
  }

  end(): Growth {
    clearInterval(this.#timer);
    const third = Math.floor(this.#samples.length / 3);
    // The first third has the warm-up; of each span the least is what no collection could free.
    const [early, late] = [this.#samples.slice(Math.floor(third / 3), third), this.#samples.slice(-third)];
    const names = this.#crew.veterans().map(({ task }) => task.name);
    const leastOf = (samples: readonly Sample[], name: string): number =>
      toMb(Math.min(...samples.flatMap(({ heap }) => heap[name] ?? [])));
    const isLong = this.#samples.length >= LEAST_SAMPLES;
    const heapMb = Object.fromEntries(
      isLong ? names.map((name) => [name, [leastOf(early, name), leastOf(late, name)] as const]) : [],
    );
    const most = Math.max(0, ...this.#samples.flatMap(({ heap }) => Object.values(heap)));
    return { heapMb, mostHeapMb: toMb(most), connections: isLong ? this.#connections(early, late) : null };
  }

  #connections(early: readonly Sample[], late: readonly Sample[]): Growth['connections'] {
    const counts = (samples: readonly Sample[]): readonly number[] =>
      samples.flatMap(({ connections }) => connections ?? []);
    const all = counts(this.#samples);
    if (all.length === 0) return null;
    return [median(counts(early)), Math.max(...all), median(counts(late))];
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** What grew and should not have, in sentences. */
export function grown({ heapMb, connections }: Growth): readonly string[] {
  const found = Object.entries(heapMb)
    .filter(([, [early, late]]) => late > early * 1.5 && late > early + HEAP_SLACK_MB)
    .map(([name, [early, late]]) => `the heap of ${name} grew from ${early} to ${late} MB`);
  if (connections !== null && connections[2] > connections[0] * 1.5 + CONNECTION_SLACK)
    found.push(
      `the server has ${connections[2]} connections late in the run, it had ${connections[0]} early`,
    );
  return found;
}

function toMb(bytes: number): number {
  return Math.round((bytes / MB) * 10) / 10;
}
