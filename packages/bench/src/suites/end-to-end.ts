import { startBenchChild } from '../child/bench-child.ts';
import type { Contestant } from '../contestants/contestant.ts';
import type { BackendName } from '../contestants/registry.ts';
import type { RunFigures } from '../report.ts';
import { jobsLeft } from '../stores/stock.ts';
import type { Suite, SuiteRequest } from './suite.ts';
import { inTurns, USUAL_CONCURRENCY } from './turns.ts';
import { warmUp } from './warm-up.ts';
import { workFigures } from './work-figures.ts';

/** A producer that gathers what it has, and does not wait for one call with the next. */
const BATCH = 100;
const IN_FLIGHT = 2;

/**
 * The plain consumer of RabbitMQ holds a hundred jobs whatever it runs. A worker that holds no more than it may run is given as many to run: with half of them on
 * their way, two settings would be compared.
 */
const CONCURRENCY: Partial<Record<BackendName, number>> = { rabbitmq: 100 };

/** One process produces, one works, at the same time: how many jobs a second from the first call until none is left. */
export const endToEnd: Suite = {
  name: 'endToEnd',
  run: (request) =>
    inTurns(request, {
      suite: 'endToEnd',
      concurrency: [CONCURRENCY[request.backend] ?? USUAL_CONCURRENCY],
      measure: ({ contestant, concurrency }) => produceAndWork(request, contestant, concurrency),
    }),
};

async function produceAndWork(
  request: SuiteRequest,
  contestant: Contestant,
  concurrency: number,
): Promise<RunFigures> {
  const { backend, store, stock, options } = request;
  const { jobs, limitMs } = options;
  await using place = await stock.take(contestant, 0);
  await using warmUpPlace = await stock.take(contestant, 0);
  const who = { backend, contestant: contestant.name };
  await using producer = await startBenchChild(who);
  await using worker = await startBenchChild(who);
  await warmUp(request, worker, contestant, concurrency);
  const how = { batch: BATCH, inFlight: IN_FLIGHT, limitMs };
  await producer.produce({ location: warmUpPlace.location, jobs, ...how });

  const { location } = place;
  await store.settle(location);
  const requestsPerJob = await store.countRequests?.();
  const what = { location, concurrency, numbers: jobs, target: jobs, untilEmpty: true, limitMs };
  const working = worker.work(what);
  await Promise.race([worker.started(), working]);
  const [work, { startedAt, produced }] = await Promise.all([
    working,
    producer.produce({ location, jobs, ...how }),
  ]);
  const requests = await requestsPerJob?.({ stored: produced, handled: work.handled });
  const left = await jobsLeft(contestant, location);
  const { figures, rate } = workFigures({
    stored: produced,
    works: [work],
    concurrency,
    wholly: true,
    left,
    from: startedAt,
  });
  const perJob = requests === undefined ? {} : { requests };
  return { ...figures, values: { endToEnd: rate, ...perJob } };
}
