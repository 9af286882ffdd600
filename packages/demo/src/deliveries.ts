import examples from '@octokit/webhooks-examples' with { type: 'json' };
import { seeded } from './seeded.ts';

/** One webhook as GitHub would post it. */
export interface Delivery {
  /** `issues.14`: the 14th example of the event. In place of X-GitHub-Delivery, which stays the same when GitHub sends again. */
  readonly key: string;
  readonly event: string;
  readonly payload: unknown;
}

/** One kind of webhook. */
export interface WebhookEvent {
  readonly name: string;
  /** The values that `action` of a payload may have; empty for an event without actions. */
  readonly actions: readonly string[];
}

interface Collected extends WebhookEvent {
  readonly examples: readonly unknown[];
}

// The types of the package describe a module with a default export; what is imported is a JSON file that holds a list.
const collection = examples as unknown as readonly Collected[];

/** Every event type of the collection. */
export const EVENTS: readonly WebhookEvent[] = collection.map(({ name, actions }) => ({ name, actions }));

/** Every recorded payload, the events mixed as on a real day. */
export const DELIVERIES: readonly Delivery[] = collection
  .flatMap(({ name, examples: payloads }) =>
    payloads.map((payload, index) => ({ key: `${name}.${index + 1}`, event: name, payload })),
  )
  .map((delivery) => ({ delivery, place: seeded('order', delivery.key) }))
  .sort((a, b) => a.place - b.place)
  .map(({ delivery }) => delivery);

/** No issue can be `exploded`: it does not fit the schema of its job, which only a producer without the schema would overlook. */
export const MISFIT: Delivery = {
  key: 'issues.misfit',
  event: 'issues',
  payload: { action: 'exploded', issue: { number: 1 }, sender: { login: 'octocat' } },
};
