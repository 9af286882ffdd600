import { type Handler, handle, type JobContext, PermanentError } from '@surety/core';
import type { Effects } from './effects.ts';
import { jobsIn } from './jobs.ts';
import type { WebhookPayload } from './webhook-schema.ts';

/** What the handlers of one worker need. */
export interface HandlerSurroundings {
  readonly worker: string;
  readonly queue: string;
  readonly dependencyUrl: string;
  readonly effects: Effects;
}

/** One handler per job type, for workers only. */
export function handlersFor(surroundings: HandlerSurroundings): readonly Handler<false>[] {
  return [...jobsIn(surroundings.queue).values()].map((job) =>
    handle(job, (payload, context) => deliver(payload, context, surroundings)),
  );
}

/**
 * The order matters. The effect comes after all that can fail, under the key that all attempts share, and before the
 * return, which is what completes the job. A crash in between repeats the effect; it never skips it.
 */
async function deliver(
  payload: WebhookPayload,
  context: JobContext,
  around: HandlerSurroundings,
): Promise<void> {
  // A bug on purpose: four real payloads have no sender. Every attempt throws a TypeError here.
  const { login } = payload.sender;
  await call('deliver', context, around, payload);
  around.effects.record({ key: context.idempotencyKey, login, worker: around.worker });
  await call('confirm', context, around, null);
}

async function call(
  what: 'deliver' | 'confirm',
  context: JobContext,
  { dependencyUrl, worker }: HandlerSurroundings,
  body: unknown,
): Promise<void> {
  const query = new URLSearchParams({ key: context.idempotencyKey, worker });
  const response = await fetch(`${dependencyUrl}/${what}?${query.toString()}`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: context.signal,
  });
  const text = await response.text();
  if (response.status === 410) throw new PermanentError(`the dependency answered 410: ${text}`);
  if (!response.ok) throw new Error(`the dependency answered ${response.status}: ${text}`);
}
