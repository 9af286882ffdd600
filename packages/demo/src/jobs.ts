import { defineJob, type JobDefinition, SuretyError } from '@surety/core';
import { EVENTS, type WebhookEvent } from './deliveries.ts';
import { type WebhookPayload, webhookSchema } from './webhook-schema.ts';

/** The queue of all webhooks. */
export const QUEUE = 'webhooks';

/**
 * More than any delivery needs: two refusals of the dependency, and one start lost with a killed worker. The base is
 * short so that the demo is; an application leaves it at 2 s.
 */
const RETRY = { maxAttempts: 6, base: '50ms', cap: '2s' } as const;

/** One job type per event: `github.push`, `github.issues`, ... Holds no handler, so that a producer may import it. */
export const JOBS: ReadonlyMap<string, JobDefinition<WebhookPayload>> = new Map(
  EVENTS.map((event) => [event.name, definitionOf(event)]),
);

/** The definition of an event. Throws for one that is not in the collection. */
export function jobOf(event: string): JobDefinition<WebhookPayload> {
  const job = JOBS.get(event);
  if (job === undefined) throw new SuretyError('INTERNAL', `There is no event ${event}.`);
  return job;
}

/** The same type as a producer knows it that never heard of the schema. */
export function uncheckedJobOf(event: string): JobDefinition<unknown> {
  return defineJob(jobOf(event).type, { queue: QUEUE });
}

function definitionOf(event: WebhookEvent): JobDefinition<WebhookPayload> {
  return defineJob(`github.${event.name}`, {
    input: webhookSchema(event),
    queue: QUEUE,
    retry: RETRY,
    timeout: '10s',
  });
}
