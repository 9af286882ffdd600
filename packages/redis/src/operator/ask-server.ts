import { SuretyError } from '@surety/core/errors';
import type { Client } from '../client.ts';
import { type Call, LATE, within } from '../deadline.ts';
import { fromNative } from '../native-errors.ts';

/** One plain command to one server, within the time of the call. Throws errors of ours. */
export async function askServer(
  server: Client,
  call: Call,
  command: string,
  ...values: readonly (string | number)[]
): Promise<unknown> {
  const answer = await within(server.call(command, ...values), call.deadline).catch((native: unknown) => {
    throw fromNative(native, call.operation);
  });
  if (answer !== LATE) return answer;
  throw new SuretyError('BACKEND_TIMEOUT', 'Redis did not answer in time.', {
    adapter: 'redis',
    operation: call.operation,
  });
}
