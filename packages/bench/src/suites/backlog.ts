import type { Contestant } from '../contestants/contestant.ts';
import { fill } from '../contestants/fill.ts';
import type { Run } from '../report.ts';
import { jobsLeft, type Place } from '../stores/stock.ts';
import type { Suite, SuiteRequest } from './suite.ts';
import { inTurns, USUAL_CONCURRENCY } from './turns.ts';
import { workOff } from './work-off.ts';

/** Jobs that are worked off, whatever else is there: this part of the jobs of a usual run. */
const PART = 0.5;
const DAY_MS = 86_400_000;

/** The same number of jobs of a short queue, of a very long one, and beside very many that are not due. */
export const backlog: readonly Suite[] = [
  { name: 'backlog', run: ofShortQueue },
  { name: 'backlog', run: (request) => ofLongQueue(request, { metric: 'backlog1M', delayMs: 0 }) },
  { name: 'backlog', run: (request) => ofLongQueue(request, { metric: 'backlog1MFuture', delayMs: DAY_MS }) },
];

function ofShortQueue(request: SuiteRequest): Promise<readonly Run[]> {
  return inTurns(request, {
    suite: 'backlog',
    title: 'backlog10k',
    concurrency: [USUAL_CONCURRENCY],
    async measure({ contestant, concurrency }) {
      const part = partOf(request);
      await using place = await request.stock.take(contestant, part);
      const wanted = { location: place.location, stored: part, numbers: part, target: part, wholly: false };
      const { figures, rate } = await workOff(request, { contestant, concurrency, ...wanted });
      return { ...figures, values: { backlog10k: rate } };
    },
  });
}

interface Many {
  readonly metric: 'backlog1M' | 'backlog1MFuture';
  readonly delayMs: number;
}

async function ofLongQueue(request: SuiteRequest, { metric, delayMs }: Many): Promise<readonly Run[]> {
  const part = partOf(request);
  const places = new Places(request, delayMs);
  try {
    return await inTurns(request, {
      suite: 'backlog',
      title: metric,
      concurrency: [USUAL_CONCURRENCY],
      async measure({ contestant, concurrency }) {
        const { location } = await places.of(contestant);
        // The many are loaded once; each round works off a part of them, or what it adds to them.
        if (delayMs > 0) await fill(contestant, location, { count: part, delayMs: 0 });
        const stored = await jobsLeft(contestant, location);
        const numbers = Math.max(part, request.options.backlog);
        const wanted = { location, stored, numbers, target: part, wholly: false };
        const { figures, rate } = await workOff(request, { contestant, concurrency, ...wanted });
        return { ...figures, values: { [metric]: rate } };
      },
    });
  } finally {
    await places.drop();
  }
}

function partOf({ options }: SuiteRequest): number {
  return Math.max(1, Math.round(options.jobs * PART));
}

/** One for each contestant, kept over the rounds, since loading takes longer than a run. */
class Places {
  readonly #request: SuiteRequest;
  readonly #delayMs: number;
  readonly #places = new Map<string, Promise<Place>>();

  constructor(request: SuiteRequest, delayMs: number) {
    this.#request = request;
    this.#delayMs = delayMs;
  }

  of(contestant: Contestant): Promise<Place> {
    const { stock, options } = this.#request;
    const wanted = { count: options.backlog, delayMs: this.#delayMs };
    const place = this.#places.get(contestant.name) ?? stock.takeLoaded(contestant, wanted);
    this.#places.set(contestant.name, place);
    return place;
  }

  async drop(): Promise<void> {
    // One that could not be made has failed the runs that wanted it.
    for (const place of this.#places.values()) await (await place.catch(() => null))?.[Symbol.asyncDispose]();
  }
}
