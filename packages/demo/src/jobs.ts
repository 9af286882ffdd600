import { defineJob, type JobDefinition } from '@surety/core';
import { EVENTS, type WebhookEvent } from './deliveries.ts';
import { type WebhookPayload, webhookSchema } from './webhook-schema.ts';

/** The queue of all webhooks, where the store is the demo's own. */
export const QUEUE = 'webhooks';

/**
 * More than any delivery needs: two refusals of the dependency, and one start lost with a killed worker. The base is
 * short so that the demo is; an application leaves it at 2 s.
 */
const RETRY = { maxAttempts: 6, base: '50ms', cap: '2s' } as const;

/** One job type per event, by its name: `github.push`, `github.issues`, ... Holds no handler, so that a producer may import it. */
export function jobsIn(queue: string): ReadonlyMap<string, JobDefinition<WebhookPayload>> {
  return new Map(EVENTS.map((event) => [event.name, definitionOf(event, queue)]));
}

/** The same types as a producer knows them that never heard of the schemas. */
export function uncheckedJobsIn(queue: string): ReadonlyMap<string, JobDefinition<unknown>> {
  return new Map(EVENTS.map(({ name }) => [name, defineJob(typeOf(name), { queue })]));
}

function definitionOf(event: WebhookEvent, queue: string): JobDefinition<WebhookPayload> {
  return defineJob(typeOf(event.name), {
    input: webhookSchema(event),
    queue,
    retry: RETRY,
    timeout: '10s',
  });
}

function typeOf(event: string): string {
  return `github.${event}`;
}
