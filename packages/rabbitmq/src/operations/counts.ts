import type { CallOptions, QueueCounts } from '@surety/core/contract';
import { type Call, startCall } from '../call.ts';
import { messagesIn } from '../claims/ask-leader.ts';
import { type Context, sessionOf } from '../context.ts';
import { LEVELS } from '../ladder.ts';
import { fromNative, overLostConnections, replyCode } from '../native-errors.ts';
import type { Session } from '../session.ts';
import { answered, onChannel, type Wire } from '../wire/open-wire.ts';

/** How long a missing level of the ladder is believed to be missing: asking costs the broker a line in its log. */
const BELIEVED_MS = 5000;

interface Depth {
  readonly ready: number;
  readonly scheduled: number;
  readonly dead: number;
}

interface Ladder {
  /** Levels that are known to stand, from 0 up. */
  readonly known: number;
  readonly at: number;
}

const ladders = new WeakMap<Session, Map<string, Ladder>>();

/** From the broker's own figures; a job on its way between two levels of the ladder is in none of them. */
export async function counts(context: Context, queue: string, options: CallOptions): Promise<QueueCounts> {
  const session = sessionOf(context, 'counts');
  const kinds = context.capabilities.counts;
  const { ready, scheduled, dead } = await measure(session, queue, startCall('counts', options));
  return {
    ready: { value: ready, kind: kinds.ready },
    scheduled: { value: scheduled, kind: kinds.scheduled },
    // AMQP does not tell what is delivered and not acknowledged.
    leased: { value: null, kind: kinds.leased },
    dead: { value: dead, kind: kinds.dead },
    // To look at the oldest job is to take it. Before 4.3 giving it back charges an attempt, or needs a copy at the end of the queue; on 4.3 it is free, but a
    // connection that is lost in between charges one all the same, and each look is one more delivery of a job that nobody was given.
    oldestReadyAgeMs: { value: null, kind: context.capabilities.oldestReadyAge },
  };
}

/** Ready and scheduled, for a maximum depth. */
export async function depthOf(session: Session, queue: string, call: Call): Promise<number> {
  const { ready, scheduled } = await measure(session, queue, call);
  return ready + scheduled;
}

/** Queues of this session that hold a job or are paused, sorted: the broker does not list them to a client. */
export async function queues(context: Context, options: CallOptions): Promise<readonly string[]> {
  const session = sessionOf(context, 'queues');
  const call = startCall('queues', options);
  const found: string[] = [];
  for (const queue of session.met) {
    if (
      session.held.holds(queue) ||
      (await holdsAny(session, queue, call)) ||
      (await session.pauses.ask(queue, call))
    )
      found.push(queue);
  }
  return found.sort();
}

async function holdsAny(session: Session, queue: string, call: Call): Promise<boolean> {
  const { ready, scheduled, dead } = await measure(session, queue, call);
  return ready + scheduled + dead > 0;
}

async function measure(session: Session, queue: string, call: Call): Promise<Depth> {
  try {
    await session.lanes.returned(call);
    return await overLostConnections(() => ask(session, queue, call));
  } catch (native) {
    throw fromNative(native, call.operation);
  }
}

async function ask(session: Session, queue: string, call: Call): Promise<Depth> {
  const wire = await session.control.get(call);
  const base = await answered(wire, call, baseOf(session, wire, queue));
  if (base === null) return { ready: 0, scheduled: 0, dead: 0 };
  const scheduled = await answered(wire, call, scheduledOf(session, wire, queue));
  const unclaimed = (await session.lanes.opening(queue))?.unclaimed ?? 0;
  return { ready: base.ready + unclaimed, scheduled, dead: base.dead };
}

/** Null: the queue was never made. */
async function baseOf(
  session: Session,
  wire: Wire,
  queue: string,
): Promise<{ readonly ready: number; readonly dead: number } | null> {
  const { names } = session;
  return existing(
    onChannel(wire, async (channel) => {
      const [ready, dead] = await Promise.all([
        messagesIn(channel, names.ready(queue)),
        messagesIn(channel, names.dead(queue)),
      ]);
      return { ready, dead };
    }),
  );
}

async function scheduledOf(session: Session, wire: Wire, queue: string): Promise<number> {
  const known = knownLadder(session, queue);
  const isFresh = performance.now() - known.at < BELIEVED_MS;
  let sum = 0;
  let level = 0;
  await existing(
    onChannel(wire, async (channel) => {
      for (; level < LEVELS && !(isFresh && level >= known.known); level++) {
        sum += await messagesIn(channel, session.names.delay(queue, level));
      }
    }),
  );
  if (!isFresh || level > known.known) remember(session, queue, { known: level, at: performance.now() });
  return sum;
}

function knownLadder(session: Session, queue: string): Ladder {
  return ladders.get(session)?.get(queue) ?? { known: 0, at: Number.NEGATIVE_INFINITY };
}

function remember(session: Session, queue: string, ladder: Ladder): void {
  const own = ladders.get(session) ?? new Map<string, Ladder>();
  own.set(queue, ladder);
  ladders.set(session, own);
}

async function existing<T>(asking: Promise<T>): Promise<T | null> {
  try {
    return await asking;
  } catch (native) {
    if (replyCode(native) === 404) return null;
    throw native;
  }
}
