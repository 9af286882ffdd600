import type { JobDefinition } from '@surety/core';
import type { WebhookEvent } from './deliveries.ts';

/** What the demo reads of a payload. It believes that every webhook has a sender, as most programs do. */
export interface WebhookPayload {
  readonly action?: string;
  readonly sender: { readonly login: string };
}

type Schema = NonNullable<JobDefinition<WebhookPayload>['input']>;
type Result = ReturnType<Schema['~standard']['validate']>;

/**
 * A Standard Schema by hand, to show that it takes no library: the payload is an object, and its action is one that the
 * event knows. Like many a real schema it does not check all that its type promises: `sender` may be missing.
 */
export function webhookSchema({ name, actions }: WebhookEvent): Schema {
  const validate = (value: unknown): Result => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { issues: [{ message: 'is not an object' }] };
    }
    const { action } = value as { readonly action?: unknown };
    const known = actions.length === 0 ? action === undefined : actions.some((each) => each === action);
    if (!known)
      return { issues: [{ message: `${JSON.stringify(action)} is no action of ${name}`, path: ['action'] }] };
    return { value: value as WebhookPayload };
  };
  return { '~standard': { version: 1, vendor: 'surety-demo', validate } };
}
