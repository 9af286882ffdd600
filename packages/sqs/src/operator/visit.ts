import type { CallOptions } from '@surety/core/contract';
import { type Call, startCall } from '../call.ts';
import { Health } from '../health.ts';
import { fromNative } from '../native-errors.ts';
import type { ResolvedOptions } from '../options.ts';
import { Session } from '../session.ts';

/** Opens a session, lets `use` work within the time of the call, and closes. */
export async function visit<T>(
  options: ResolvedOptions,
  operation: string,
  { timeoutMs }: CallOptions,
  use: (session: Session, call: Call) => Promise<T>,
): Promise<T> {
  const call = startCall(operation, { timeoutMs });
  const session = new Session({ ...options, queues: [] }, new Health(() => undefined), () => undefined);
  try {
    await session.open(call);
    return await use(session, call);
  } catch (native) {
    throw fromNative(native, operation, 'GetQueueUrl');
  } finally {
    await session.close(0);
  }
}
