import type { Suite } from './suite.ts';
import { inTurns } from './turns.ts';
import { workOff } from './work-off.ts';

/** No-op jobs that are already there, one worker process: how many a second, until none is left. */
export const drain: Suite = {
  name: 'drain',
  run: (request) =>
    inTurns(request, {
      suite: 'drain',
      concurrency: request.options.concurrency,
      async measure({ contestant, concurrency }) {
        const { jobs } = request.options;
        await using place = await request.stock.take(contestant, jobs);
        const { location, bytesPerJob } = place;
        const all = { location, stored: jobs, numbers: jobs, target: jobs, wholly: true };
        const { figures, rate, cpu, work } = await workOff(request, { contestant, concurrency, ...all });
        const stored = bytesPerJob === null ? {} : { stored: bytesPerJob };
        return { ...figures, values: { throughput: rate, cpu, memory: work.peakBytes / 1e6, ...stored } };
      },
    }),
};
