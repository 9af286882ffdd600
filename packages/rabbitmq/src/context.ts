import { closedError } from './call.ts';
import type { RabbitmqCapabilities } from './capabilities.ts';
import type { ResolvedOptions } from './options.ts';
import type { Session } from './session.ts';

/** What the operations of one backend share. */
export interface Context {
  readonly options: ResolvedOptions;
  readonly capabilities: RabbitmqCapabilities;
  /** Null before the first `open`, and after `close`. */
  session: Session | null;
  lastClaimAt: number | null;
  lastRenewAt: number | null;
}

/** The session, or BACKEND_CLOSED. */
export function sessionOf(context: Context, operation: string): Session {
  const { session } = context;
  if (session === null || session.isClosed) throw closedError(operation);
  return session;
}
