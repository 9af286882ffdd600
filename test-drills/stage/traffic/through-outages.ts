import { join } from 'node:path';
import { startHistory } from '../history.ts';
import { monotonicMs } from '../monotonic.ts';
import type { ServerControl } from '../place.ts';
import type { Stage } from '../stage.ts';
import type { WorkerProcess } from '../worker.ts';
import { completedSince, startHand } from './crew.ts';
import type { TrafficArgs } from './jobs.ts';
import { judgeTraffic } from './judge-traffic.ts';
import { type Producer, startProducer } from './producer.ts';

/** How a server goes away. */
export interface Outage {
  readonly fault: string;
  readonly times: number;
  readonly goes: (server: ServerControl) => Promise<void>;
  /** Whether settlements that were confirmed just before may be undone by it. */
  readonly mayUndo: boolean;
}

const WORKERS = 2;
/** With this work about 100 jobs a second, so that the backlog of an outage is soon worked off. */
const SLOTS = 12;
const JOBS_PER_SECOND = 20;
/** What core gives a call when nothing is set. A server that is starting may take seconds to answer. */
const CALL_MS = 10_000;
/** Brokers that write a queue's first entries later than their answers have written them by then. */
const WARM_UP_MS = 3000;
const WARM_UP_JOBS = 20;
const WARM_UP_WITHIN_MS = 60_000;
/** Workers and producers pause up to 6.25 s between calls that fail; beside that a connection is made and leases end. */
const BACK_WITHIN_MS = 20_000;

/** Takes the server away again and again while producers and workers go on, and notes what must hold. */
export async function throughOutages(stage: Stage, outage: Outage): Promise<void> {
  const history = startHistory(stage);
  const args: TrafficArgs = { queue: stage.queue(), effects: join(stage.folder, 'effects.db') };
  const settings = { concurrency: SLOTS };
  const crew = await Promise.all(
    Array.from({ length: WORKERS }, () => startHand(stage, history, { args, settings })),
  );
  await using producer = await startProducer(stage, history, { queue: args.queue, timeoutMs: CALL_MS });
  producer.flow(JOBS_PER_SECOND, () => workMs(stage));
  stage.progress('work as usual');
  await stage.pause(WARM_UP_MS);
  await stage.eventually('first jobs', WARM_UP_WITHIN_MS, () => completedSince(crew, 0) >= WARM_UP_JOBS);
  const back: Back[] = [];
  for (let turn = 1; turn <= outage.times; turn += 1) {
    await stage.pause(stage.random.int(500, 2000));
    stage.progress(`${outage.fault} ${turn} of ${outage.times}`);
    const { fault, mayUndo } = outage;
    history.trace.fault(fault, { phase: 'begin', mayUndo });
    await goAndCome(stage, outage);
    history.trace.fault(fault, { phase: 'end', mayUndo });
    back.push(await comesBack(stage, producer, crew));
  }
  stage.figure('outages', back.length);
  stage.figure(
    'workGoesOnAfterMs',
    back.map(({ workMs: ms }) => Math.round(ms)),
  );
  stage.figure(
    'acceptedAgainAfterMs',
    back.map(({ acceptMs }) => Math.round(acceptMs)),
  );
  await judgeTraffic(stage, history, { args, producer, crew });
}

/** Short jobs, and one in sixteen that outlives a lease, so that it is renewed. */
function workMs({ random, leaseMs }: Stage): number {
  return random.int(1, 16) === 1 ? leaseMs * 1.2 : random.int(5, 150);
}

async function goAndCome(stage: Stage, { goes }: Outage): Promise<void> {
  const { server } = stage;
  if (server === null) throw new Error('there is no server to take away');
  await goes(server);
  try {
    await stage.pause(stage.random.int(300, 2500));
  } finally {
    await server.start();
  }
}

interface Back {
  readonly workMs: number;
  readonly acceptMs: number;
}

async function comesBack(
  stage: Stage,
  { accepted }: Producer,
  crew: readonly WorkerProcess[],
): Promise<Back> {
  const from = monotonicMs();
  const after = (is: () => boolean): Promise<number> =>
    stage
      .eventually('back', BACK_WITHIN_MS, is)
      .then(() => monotonicMs() - from)
      .catch(() => BACK_WITHIN_MS);
  const [acceptMs, doneMs] = await Promise.all([
    after(() => [...accepted.values()].some((at) => at > from)),
    after(() => completedSince(crew, from) > 0),
  ]);
  stage.must(
    `once it is back, jobs are accepted and done within ${BACK_WITHIN_MS} ms`,
    Math.max(acceptMs, doneMs) < BACK_WITHIN_MS,
    `${Math.round(acceptMs)} and ${Math.round(doneMs)} ms`,
  );
  return { workMs: doneMs, acceptMs };
}
