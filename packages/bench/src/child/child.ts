import { serveChild } from '@surety/testbed';
import { type BackendName, loadContestant } from '../contestants/registry.ts';
import { type DueTimeRequest, type DueTimeResult, dueTime } from './due-time.ts';
import { type PickUpRequest, type PickUpResult, pickUp } from './pick-up.ts';
import { type ProduceRequest, type ProduceResult, produce } from './produce.ts';
import { Work, type WorkRequest, type WorkResult } from './work.ts';

/** What every call that begins something carries. */
export interface Who {
  readonly backend: BackendName;
  readonly contestant: string;
}

/** Set within the turn in which the call came, so that a call after it means this work and not one before. */
let current: Promise<Work> | null = null;

async function newWork({ backend, contestant, ...request }: Who & WorkRequest): Promise<Work> {
  return new Work(await loadContestant(backend, contestant), request);
}

/** The process that is measured. It runs one contestant only. */
serveChild({
  async work(params: Who & WorkRequest): Promise<WorkResult> {
    current = newWork(params);
    return (await current).run();
  },
  started: async () => (await current)?.started,
  handled: async () => (await current)?.handled ?? 0,
  finish: async () => (await current)?.finish(),
  produce: async ({ backend, contestant, ...request }: Who & ProduceRequest): Promise<ProduceResult> =>
    produce(await loadContestant(backend, contestant), request),
  pickUp: async ({ backend, contestant, ...request }: Who & PickUpRequest): Promise<PickUpResult> =>
    pickUp(await loadContestant(backend, contestant), request),
  dueTime: async ({ backend, contestant, ...request }: Who & DueTimeRequest): Promise<DueTimeResult> =>
    dueTime(await loadContestant(backend, contestant), request),
});
