import {
  type AnyEnqueueOptions,
  type Backend,
  type Client,
  createClient,
  type EnqueueManyResult,
  type JobDefinition,
  SuretyError,
} from '@surety/core';
import { DELIVERIES, type Delivery, MISFIT } from './deliveries.ts';
import { jobsIn, uncheckedJobsIn } from './jobs.ts';

/** What the producer knows at its end, from the answers of the backend alone. */
export interface EnqueueReport {
  /** Keys of the deliveries that were answered `accepted`. */
  readonly accepted: readonly string[];
  /** How many were sent a second time, and how many of these were answered `duplicate`. None where the backend has no dedupe. */
  readonly repeats: { readonly sent: number; readonly duplicates: number };
  /** What was not accepted the first time; each line says why. */
  readonly refusals: readonly string[];
}

/** GitHub sends again what was not answered in time; here the first so many come twice. */
const REPEATED = 20;

/** Enqueues everything into one queue. */
export async function enqueueDeliveries(backend: Backend, queue: string): Promise<EnqueueReport> {
  const dedupes = backend.capabilities.dedupe !== 'none';
  const optionsFor = (key: string): AnyEnqueueOptions =>
    dedupes ? { idempotencyKey: key, dedupeKey: key } : { idempotencyKey: key };
  const jobs = jobsIn(queue);
  await using client = createClient({ backend });
  const checked = await send(client, DELIVERIES, jobs, optionsFor);
  const again = await send(client, dedupes ? DELIVERIES.slice(0, REPEATED) : [], jobs, optionsFor);
  // A client knows one definition of a type, so that the producer without schemas is a second client.
  await using careless = createClient({ backend });
  const unchecked = await send(careless, [MISFIT], uncheckedJobsIn(queue), optionsFor);
  const first = [...checked, ...unchecked];
  return {
    accepted: first.filter(({ result }) => result.status === 'accepted').map(({ key }) => key),
    repeats: {
      sent: again.length,
      duplicates: again.filter(({ result }) => result.status === 'duplicate').length,
    },
    refusals: first
      .filter(({ result }) => result.status !== 'accepted')
      .map(({ key, result }) => `${key}: ${reasonOf(result)}`),
  };
}

interface Answer {
  readonly key: string;
  readonly result: EnqueueManyResult;
}

async function send(
  client: Client,
  deliveries: readonly Delivery[],
  jobs: ReadonlyMap<string, JobDefinition<unknown, unknown>>,
  optionsFor: (key: string) => AnyEnqueueOptions,
): Promise<readonly Answer[]> {
  const items = deliveries.map(({ key, event, payload }) => ({
    job: jobOf(jobs, event),
    input: payload,
    options: optionsFor(key),
  }));
  const results = await client.enqueueMany(items);
  return deliveries.flatMap(({ key }, index) => {
    const result = results[index];
    return result === undefined ? [] : [{ key, result }];
  });
}

function jobOf<Job>(jobs: ReadonlyMap<string, Job>, event: string): Job {
  const job = jobs.get(event);
  if (job === undefined) throw new SuretyError('INTERNAL', `There is no event ${event}.`);
  return job;
}

function reasonOf(result: EnqueueManyResult): string {
  return result.status === 'rejected' || result.status === 'unknown' ? result.error.message : result.status;
}
