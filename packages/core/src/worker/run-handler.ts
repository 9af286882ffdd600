import { checkInput } from '../definition/check-input.ts';
import type { Handler } from '../definition/handle.ts';
import type { Attempt } from './attempt.ts';
import { AttemptContext, type ContextServices } from './context.ts';
import { codeOf } from './describe-error.ts';
import { type HandlerEnd, policyOf } from './ending.ts';

/**
 * Validates the stored payload and hands the schema's output to the handler. Calls `ended` once, never before it has returned itself.
 * A short job costs no more than its handler, so what this adds to each is two promises: no async function stands in between.
 */
export function runHandler(
  attempt: Attempt,
  services: ContextServices,
  ended: (end: HandlerEnd) => void,
): void {
  const { handler, lease } = attempt;
  if (handler === null || 'unreadable' in lease.payload)
    return later(ended, { unfit: new Error('the job was started without a handler') });
  const { value } = lease.payload;
  if (handler.definition.input === null) return run(attempt, handler, value, services, ended);
  const refused = (fault: unknown): void =>
    // Only what the schema says of the payload is final; a schema that breaks is a fault like any other.
    later(ended, codeOf(fault) === 'PAYLOAD_INVALID' ? { unfit: fault } : { threw: fault });
  try {
    const checked = checkInput(lease.type, handler.definition.input, value);
    if (!(checked instanceof Promise)) return run(attempt, handler, checked, services, ended);
    void checked.then((input) => run(attempt, handler, input, services, ended), refused);
  } catch (fault) {
    refused(fault);
  }
}

function later(ended: (end: HandlerEnd) => void, end: HandlerEnd): void {
  queueMicrotask(() => ended(end));
}

/** Throws nothing. */
function run(
  attempt: Attempt,
  handler: Handler,
  input: unknown,
  services: ContextServices,
  ended: (end: HandlerEnd) => void,
): void {
  // As `await` does: a `then` of the promise's own could answer at once, or twice.
  void Promise.prototype.then.call(
    started(attempt, handler, input, services),
    (returned) => ended({ returned }),
    (threw) => ended({ threw }),
  );
}

function started(
  attempt: Attempt,
  handler: Handler,
  input: unknown,
  services: ContextServices,
): Promise<unknown> {
  try {
    const context = new AttemptContext(attempt, policyOf(attempt).maxAttempts, services);
    services.trace?.started(attempt.lease);
    return Promise.resolve(handler.run(input as never, context as never));
  } catch (fault) {
    return Promise.reject(fault);
  }
}
