import { type Backend, CONTRACT_VERSION, type Notice, type OpenOptions } from '@surety/core/contract';
import { ADAPTER, startCall } from './call.ts';
import { capabilitiesFor, type SqsCapabilities } from './capabilities.ts';
import type { Context } from './context.ts';
import { createDeadLetters } from './facets/dead-letters.ts';
import { createPacing } from './facets/pacing.ts';
import { Health } from './health.ts';
import { fromNative } from './native-errors.ts';
import { claim } from './operations/claim.ts';
import { counts, queues } from './operations/counts.ts';
import { enqueue } from './operations/enqueue.ts';
import { renew } from './operations/renew.ts';
import { settle } from './operations/settle.ts';
import { settleAndClaim } from './operations/settle-and-claim.ts';
import type { ResolvedOptions } from './options.ts';
import { Session } from './session.ts';

const NO_GRACE_MS = 0;

/** Puts the adapter together. Nothing is connected before `open`. */
export function createBackend(options: ResolvedOptions): Backend<SqsCapabilities> {
  const capabilities = capabilitiesFor(options);
  let tell: (notice: Notice) => void = () => undefined;
  const notify = (notice: Notice): void => tell(notice);
  const health = new Health(notify);
  const context: Context = { options, capabilities, session: null, lastClaimAt: null, lastRenewAt: null };
  let closing: Promise<void> | null = null;

  async function open({ notify: given, timeoutMs }: OpenOptions): Promise<void> {
    const call = startCall('open', { timeoutMs });
    await closing;
    if (context.session !== null) return;
    tell = given;
    health.clear();
    const session = new Session(options, health, notify);
    try {
      await session.open(call);
    } catch (native) {
      await session.close(NO_GRACE_MS);
      throw fromNative(native, 'open', 'GetQueueUrl');
    }
    context.session = session;
  }

  async function end(graceMs: number): Promise<void> {
    const { session } = context;
    context.session = null;
    await session?.close(graceMs);
  }

  return {
    name: ADAPTER,
    contractVersion: CONTRACT_VERSION,
    capabilities,
    open,
    close: ({ graceMs }) => {
      closing ??= end(graceMs).finally(() => {
        closing = null;
      });
      return closing;
    },
    health: () => health.tell(context.session !== null, context.lastClaimAt, context.lastRenewAt),
    enqueue: (jobs, call) => enqueue(context, jobs, call),
    claim: (request) => claim(context, request),
    renew: (leases, leaseMs, call) => renew(context, leases, leaseMs, call),
    settle: (settlements, call) => settle(context, settlements, call),
    settleAndClaim: (settlements, request) => settleAndClaim(context, settlements, request),
    counts: (queue, call) => counts(context, queue, call),
    queues: (call) => queues(context, call),
    deadLetters: createDeadLetters(context),
    pacing: createPacing(context),
  };
}
