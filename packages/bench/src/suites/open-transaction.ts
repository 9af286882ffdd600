import type { Suite } from './suite.ts';
import { inTurns, USUAL_CONCURRENCY } from './turns.ts';
import { workOff } from './work-off.ts';

/** So many times the jobs of a usual run: what cannot be cleaned away has to become much to be felt. */
const TIMES = 7.5;
/** What it does to a contestant it does towards the end: nobody shall be spared that by a cut. */
const PATIENCE = 5;

/** A drain beside a session that has looked once and holds its transaction open: nothing that ends can be cleaned away. */
export const openTransaction: Suite = {
  name: 'openTransaction',
  async run(request) {
    const { store } = request;
    if (store.openTransaction === undefined) return [];
    return inTurns(request, {
      suite: 'openTransaction',
      concurrency: [USUAL_CONCURRENCY],
      async measure({ contestant, concurrency }) {
        const jobs = Math.round(request.options.jobs * TIMES);
        const beside = async (location: string): Promise<AsyncDisposable | null> =>
          (await store.openTransaction?.(location)) ?? null;
        await using place = await request.stock.take(contestant, jobs);
        const all = { location: place.location, stored: jobs, numbers: jobs, target: jobs, wholly: true };
        const how = { contestant, concurrency, patience: PATIENCE, beside };
        const { figures, rate } = await workOff(request, { ...all, ...how });
        return { ...figures, values: { openTransaction: rate } };
      },
    });
  },
};
