import { type Child, startChild } from '@surety/testbed';
import type { Who } from './child.ts';
import type { DueTimeRequest, DueTimeResult } from './due-time.ts';
import type { PickUpRequest, PickUpResult } from './pick-up.ts';
import type { ProduceRequest, ProduceResult } from './produce.ts';
import type { WorkRequest, WorkResult } from './work.ts';

/** Far more than any batch or timer of a contestant holds a completion back. */
const COMPLETION_LIMIT_MS = 20_000;
/** On top of what a call may take by its request: connections, the stop of a worker that has much in its hands. */
const AROUND_MS = 60_000;

/** Built when this file is: peers are installed as JavaScript, and what strips types in a measured process costs it CPU. */
const IS_BUILT = !import.meta.url.endsWith('.ts');

/** A fresh process for one contestant. */
export interface BenchChild extends AsyncDisposable {
  work(request: Omit<WorkRequest, 'completionLimitMs'>): Promise<WorkResult>;
  /** Of the last `work`: that its worker runs; how many jobs it has handled; that it shall end. */
  started(): Promise<void>;
  handled(): Promise<number>;
  finish(): Promise<void>;
  produce(request: ProduceRequest): Promise<ProduceResult>;
  pickUp(request: PickUpRequest): Promise<PickUpResult>;
  dueTime(request: DueTimeRequest): Promise<DueTimeResult>;
}

export async function startBenchChild(who: Who): Promise<BenchChild> {
  // The documented way to save graphile-worker its line per job; nothing else reads it.
  const env = { NO_LOG_SUCCESS: '1' };
  const program = new URL(IS_BUILT ? './child.js' : './child.ts', import.meta.url);
  const child = await startChild(program, { env, conditions: IS_BUILT ? [] : ['surety-source'] });
  const call = <Result>(method: string, request: object, takesMs: number): Promise<Result> =>
    told(child, child.call<Result>(method, { ...who, ...request }, takesMs + AROUND_MS));
  return {
    work: (request) =>
      call(
        'work',
        { ...request, completionLimitMs: COMPLETION_LIMIT_MS },
        request.limitMs + COMPLETION_LIMIT_MS,
      ),
    started: () => call('started', {}, 0),
    handled: () => call('handled', {}, 0),
    finish: () => call('finish', {}, 0),
    produce: (request) => call('produce', request, request.limitMs),
    pickUp: (request) => call('pickUp', request, request.jobs * 100 + request.limitMs),
    dueTime: (request) => call('dueTime', request, request.jobs * 100 + request.limitMs),
    async [Symbol.asyncDispose]() {
      await child.end();
    },
  };
}

/** What a contestant complained of on the way belongs to its error. */
async function told<Result>(child: Child, answer: Promise<Result>): Promise<Result> {
  try {
    return await answer;
  } catch (error) {
    const tail = child.stderrTail.trim();
    if (tail === '') throw error;
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${tail}`, { cause: error });
  }
}
