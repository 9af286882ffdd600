import { SuretyError } from '../errors/index.ts';
import type { FencedContext, JobContext } from '../worker/context.ts';
import { assertDefinition, type JobDefinition } from './define-job.ts';

/** A definition with the function that does it. `Fenced` is true for one that needs `ctx.fence`. */
export interface Handler<Fenced extends boolean = boolean> {
  readonly definition: JobDefinition<unknown, unknown>;
  readonly fenced: Fenced;
  readonly run: (input: never, context: never) => unknown;
}

/**
 * Binds a function to a definition, for workers only. Returning is success; throwing is a counted failure; the values of
 * `ctx.snooze`, `ctx.cancel` and `ctx.bury`, returned, are what they say. Nothing is inferred from what else is returned.
 * A handler may run more than once for one job: make its effect idempotent with `ctx.idempotencyKey`.
 */
export function handle<Input, Output>(
  definition: JobDefinition<Input, Output>,
  run: (input: Output, context: JobContext) => unknown,
): Handler<false> {
  return handlerOf(definition, run, false);
}

/** As {@link handle}, with `ctx.fence`: a number that grows with every claim of the job. Only for backends whose fence is monotonic. */
export function handleFenced<Input, Output>(
  definition: JobDefinition<Input, Output>,
  run: (input: Output, context: FencedContext) => unknown,
): Handler<true> {
  return handlerOf(definition, run, true);
}

function handlerOf<Fenced extends boolean>(
  definition: unknown,
  run: unknown,
  fenced: Fenced,
): Handler<Fenced> {
  assertDefinition('handle', definition);
  if (typeof run !== 'function')
    throw new SuretyError('OPTIONS_INVALID', 'handle takes a function as its second argument.');
  return Object.freeze({ definition, run, fenced } as Handler<Fenced>);
}
