import { checkInput } from '../definition/check-input.ts';
import type { Attempt } from './attempt.ts';
import { AttemptContext, type ContextServices } from './context.ts';
import { codeOf } from './describe-error.ts';
import { type HandlerEnd, policyOf } from './ending.ts';

/** Validates the stored payload, hands the schema's output to the handler and waits for its end. Rejects with what the handler throws. */
export async function runHandler(attempt: Attempt, services: ContextServices): Promise<HandlerEnd> {
  const { handler, lease } = attempt;
  if (handler === null || 'unreadable' in lease.payload)
    return { unfit: new Error('the job was started without a handler') };
  let input: unknown = lease.payload.value;
  const schema = handler.definition.input;
  if (schema !== null) {
    try {
      const checked = checkInput(lease.type, schema, input);
      input = checked instanceof Promise ? await checked : checked;
    } catch (fault) {
      // Only what the schema says of the payload is final; a schema that breaks is a fault like any other.
      if (codeOf(fault) === 'PAYLOAD_INVALID') return { unfit: fault };
      throw fault;
    }
  }
  const context = new AttemptContext(attempt, policyOf(attempt).maxAttempts, services);
  services.trace?.started(lease);
  return { returned: await handler.run(input as never, context as never) };
}
