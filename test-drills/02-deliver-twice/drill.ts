import { join } from 'node:path';
import { createClient } from '@surety/core';
import { besides } from '../stage/besides.ts';
import type { Drill } from '../stage/drill.ts';
import { nothingLeft } from '../stage/nothing-left.ts';
import type { Stage, WorkerOrder } from '../stage/stage.ts';
import type { WorkerProcess } from '../stage/worker.ts';
import type { Sabotage } from '../stage/worker-messages.ts';
import { type DeliverTwiceArgs, jobOf } from './jobs.ts';
import { openShop, PATTERNS, type Shop } from './shop.ts';

/** See README.md. */
export const deliverTwice: Drill = {
  name: 'deliver-twice',
  summary: 'every job is delivered twice on purpose: one side effect, in each of the three patterns',
  needs: [],
  limitMs: 300_000,
  async run(stage) {
    stage.figure(
      'how',
      stage.capabilities.moves === 'copy'
        ? 'the same envelope is published twice'
        : 'the lease is ended early in the store, under the worker that holds it',
    );
    for (const order of ['one after the other', 'at once'] as const) await deliver(stage, order);
  },
};

type Order = 'one after the other' | 'at once';

const QUICK_JOBS = 3;
const JOBS = 20;
const WORK_MS = 90_000;
/** A held settlement must come late, not be given up. */
const CALL_MS = 120_000;

interface Delivery {
  readonly stage: Stage;
  readonly order: Order;
  readonly queue: string;
  readonly subjects: number;
  readonly work: (sabotage: Sabotage, concurrency?: number) => Promise<WorkerProcess>;
}

async function deliver(stage: Stage, order: Order): Promise<void> {
  const queue = stage.queue();
  const args: DeliverTwiceArgs = { queue, shop: join(stage.folder, `${queue}.db`) };
  using shop = openShop(args.shop);
  const perPattern = stage.quick ? QUICK_JOBS : JOBS;
  const subjects = perPattern * PATTERNS.length;
  const work = (sabotage: Sabotage, concurrency = subjects): Promise<WorkerProcess> =>
    stage.worker(workerOf(stage, args, sabotage, concurrency));
  const isCopy = stage.capabilities.moves === 'copy';
  await enqueue(stage, queue, perPattern, shop, isCopy ? 2 : 1);
  stage.progress(`${order}: ${subjects} jobs, each to be delivered twice`);
  const delivery: Delivery = { stage, order, queue, subjects, work };
  if (isCopy) await twoCopies(delivery);
  else await twoHolders(delivery);
  await judge(stage, order, shop, queue, subjects);
}

function workerOf(
  stage: Stage,
  args: DeliverTwiceArgs,
  sabotage: Sabotage,
  concurrency: number,
): WorkerOrder {
  return {
    handlers: besides(import.meta.url, 'handlers'),
    args,
    settings: { queues: [args.queue], concurrency, lease: stage.leaseMs, timeout: CALL_MS },
    sabotage,
  };
}

/** `times` 2: the same id and key again, as a producer does whose answer was lost. */
async function enqueue(
  stage: Stage,
  queue: string,
  perPattern: number,
  shop: Shop,
  times: number,
): Promise<void> {
  await using client = createClient({ backend: await stage.connect() });
  for (const pattern of PATTERNS) {
    const job = jobOf(pattern, queue);
    for (let number = 1; number <= perPattern; number += 1) {
      const subject = `${pattern}-${number}`;
      if (pattern === 'forward') shop.addOrder(subject);
      const { id } = await client.enqueue(job, { subject });
      for (let more = 1; more < times; more += 1) await client.enqueue(job, { subject }, { id });
    }
  }
}

/** The store ends the first worker's leases under it; a second worker is handed the same jobs. */
async function twoHolders({ stage, order, subjects, work }: Delivery): Promise<void> {
  const at = order === 'at once' ? 'before-effect' : 'settling';
  const first = await work({ endLeasesAfterMs: stage.capabilities.lease.minMs, holds: { [at]: subjects } });
  await stage.eventually(`${order}: the first worker has begun all`, WORK_MS, () => begun(first) >= subjects);
  if (order === 'one after the other') await first.reached('settling');
  const second = await work(order === 'at once' ? { holds: { 'before-effect': subjects } } : {});
  await stage.eventually(
    `${order}: the second worker has them too`,
    WORK_MS,
    () => begun(second) >= subjects,
  );
  if (order === 'one after the other')
    await stage.eventually(
      `${order}: the second has completed them`,
      WORK_MS,
      () => completed(second) >= subjects,
    );
  letGo([first, second], at, subjects);
  await stage.eventually(`${order}: all completed`, WORK_MS, () => completed(second) >= subjects);
  await Promise.all([first.stop(), second.stop()]);
  stage.must(
    `${order}: what the fenced worker said changed nothing`,
    completed(first) === 0,
    `${completed(first)} accepted`,
  );
}

/** Two copies of each job are in the queue. */
async function twoCopies({ stage, order, subjects, work }: Delivery): Promise<void> {
  const isAtOnce = order === 'at once';
  const workers = isAtOnce
    ? await Promise.all([1, 2].map(() => work({ holds: { 'before-effect': subjects } })))
    : [await work({}, 1)];
  const all = (count: (worker: WorkerProcess) => number): number =>
    workers.reduce((sum, worker) => sum + count(worker), 0);
  if (isAtOnce) {
    await stage.eventually(`${order}: every copy is in hand`, WORK_MS, () => all(begun) >= 2 * subjects);
    letGo(workers, 'before-effect', subjects);
  }
  await stage.eventually(`${order}: every copy is completed`, WORK_MS, () => all(completed) >= 2 * subjects);
  await Promise.all(workers.map((worker) => worker.stop()));
}

function begun(worker: WorkerProcess): number {
  return worker.told('at:before-effect').length;
}

function completed(worker: WorkerProcess): number {
  return worker.attempts.filter(({ outcome }) => outcome === 'completed').length;
}

function letGo(workers: readonly WorkerProcess[], point: string, times: number): void {
  for (let pass = 0; pass < times; pass += 1) for (const worker of workers) worker.go(point);
}

async function judge(stage: Stage, order: Order, shop: Shop, queue: string, subjects: number): Promise<void> {
  const outcomes = shop.outcomes();
  for (const pattern of PATTERNS) {
    const its = outcomes.filter(({ subject }) => subject.startsWith(pattern));
    const wrong = its
      .filter(({ effects }) => effects !== 1)
      .map(({ subject, effects }) => `${subject} ${effects} times`);
    stage.must(
      `${order}, ${pattern}: one side effect each`,
      wrong.length === 0 && its.length === subjects / PATTERNS.length,
      wrong.join(', '),
    );
  }
  const runs = outcomes.reduce((sum, outcome) => sum + outcome.runs, 0);
  stage.must(
    `${order}: every job was run twice`,
    outcomes.every((outcome) => outcome.runs >= 2),
    `${runs} runs of ${subjects}`,
  );
  stage.must(
    `${order}: both runs had the same idempotency key`,
    outcomes.every(({ keys }) => keys === 1),
  );
  const effects = outcomes.reduce((sum, outcome) => sum + outcome.effects, 0);
  const apart = outcomes.filter(({ workers }) => workers > 1).length;
  stage.figure(order, { jobs: subjects, runs, sideEffects: effects, runByTwoProcesses: apart });
  await nothingLeft(stage, queue, order);
}
