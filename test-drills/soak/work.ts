import { setTimeout as sleep } from 'node:timers/promises';
import {
  createWorker,
  type Handler,
  type HandlerOutcome,
  handle,
  type JobContext,
  PermanentError,
} from '@surety/core';
import type { Backend } from '@surety/core/contract';
import type { Trace } from '@surety/core/trace';
import type { ActorTask } from './actor.ts';
import { type LoadInput, loadJobs, WAYS, type Way } from './jobs.ts';
import type { Part } from './part.ts';

/** Long jobs take slots for seconds; the others must not wait for them. */
const CONCURRENCY = 64;
const DRAIN_MS = 5000;
const GRACE_MS = 1000;
const STUCK_MS = 600;
const SNOOZE_MS = 200;

/** A worker of core that does the load. */
export async function startWorking(
  task: ActorTask,
  backend: Backend,
  trace: Trace,
  end: () => void,
): Promise<Part> {
  const jobs = loadJobs(task.queue);
  const crash = (): Promise<void> => {
    if (!task.mayCrash) return Promise.resolve();
    trace.fault('job-kills-process', { note: task.name });
    end();
    return new Promise(() => undefined);
  };
  // What holds a job that was lost once works for longer than a lease: whoever lost it and comes back finds it held.
  const againMs = Math.round(task.leaseMs * 1.2);
  const handlers = WAYS.map(
    (way): Handler => handle(jobs[way], (input, context) => run({ way, crash, againMs }, input, context)),
  );
  const worker = createWorker({
    backend,
    handlers,
    queues: [task.queue],
    concurrency: CONCURRENCY,
    lease: task.leaseMs,
    timeout: task.callMs,
    grace: GRACE_MS,
    log: 'none',
    trace,
  });
  let attempts = 0;
  worker.on('attempt', () => {
    attempts += 1;
  });
  await worker.start();
  return {
    accepted: 0,
    get attempts() {
      return attempts;
    },
    isDone: false,
    complaint: null,
    async stop() {
      await worker.stop({ drain: DRAIN_MS });
    },
  };
}

interface Setting {
  readonly way: Way;
  readonly crash: () => Promise<void>;
  readonly againMs: number;
}

/** One effect at the end, unless it fails. */
async function run(
  { way, crash, againMs }: Setting,
  { workMs, failures }: LoadInput,
  context: JobContext,
): Promise<HandlerOutcome | undefined> {
  const { attempt, redrives, signal } = context;
  const isFirst = attempt === 1 && redrives === 0;
  // Repaired by the time that somebody redrives them.
  const isRepaired = redrives > 0;
  if (way === 'crash' && !isRepaired) await crash();
  // Looks neither at the time nor at its signal, longer than its timeout and shorter than the grace that follows.
  if (way === 'stuck' && isFirst) await sleep(STUCK_MS);
  const restMs = way === 'late' && !isFirst ? againMs : workMs;
  if (restMs > 0) await sleep(restMs, undefined, { signal });
  if (attempt <= failures) throw new Error('planned');
  if (way === 'poison' && !isRepaired) throw new Error('planned');
  if (way === 'bury' && !isRepaired) throw new PermanentError('planned');
  // It is not charged, so that nothing but chance ends it.
  if (way === 'snoozes' && Math.random() < 0.5) return context.snooze(SNOOZE_MS);
  context.effect('done');
  return undefined;
}
