import type { StandardSchemaV1 } from '@standard-schema/spec';
import { SuretyError } from '../errors/index.ts';
import { messageOf } from '../errors/message-of.ts';

/** The schema's output, at once where the schema is synchronous. Throws PAYLOAD_INVALID with the first issues and their paths. */
export function checkInput<Output>(
  type: string,
  schema: StandardSchemaV1<unknown, Output>,
  value: unknown,
): Output | Promise<Output> {
  const result = schema['~standard'].validate(value);
  return result instanceof Promise ? result.then((r) => outputOf(type, r)) : outputOf(type, result);
}

function outputOf<Output>(type: string, result: StandardSchemaV1.Result<Output>): Output {
  if (result.issues === undefined) return result.value;
  throw new SuretyError(
    'PAYLOAD_INVALID',
    `The payload of ${type} does not fit its schema: ${listed(result.issues)}.`,
  );
}

function listed(issues: readonly StandardSchemaV1.Issue[]): string {
  const first = issues.slice(0, 3).map((issue) => {
    const path = (issue.path ?? [])
      .map((part) => String(typeof part === 'object' ? part.key : part))
      .join('.');
    const message = messageOf(issue);
    return path === '' ? message : `${path}: ${message}`;
  });
  if (first.length === 0) return 'it does not say why';
  return issues.length > 3 ? `${first.join('; ')}; and ${issues.length - 3} more` : first.join('; ');
}
