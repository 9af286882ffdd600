import { ListQueuesCommand, type QueueAttributeName } from '@aws-sdk/client-sqs';
import type { CallOptions, QueueCounts } from '@surety/core/contract';
import { type Call, startCall } from '../call.ts';
import { type Context, sessionOf } from '../context.ts';
import { queueIn } from '../names.ts';
import type { Session } from '../session.ts';
import type { QueueUrls } from '../topology.ts';
import { readAttributes } from './attributes.ts';
import { oldestReadyAge } from './oldest-ready-age.ts';

const FIGURES = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const satisfies readonly QueueAttributeName[];
/** A listing has pages of up to 1,000. */
const PAGE = 1000;
/** Queues looked at side by side. */
const AT_ONCE = 8;

interface Figures {
  readonly visible: number;
  readonly hidden: number;
  readonly delayed: number;
  readonly createdAt: number;
}

interface Depth {
  readonly ready: number;
  readonly leased: number;
  readonly scheduled: number;
  readonly dead: number;
  readonly readyCreatedAt: number;
}

const NONE: Depth = { ready: 0, leased: 0, scheduled: 0, dead: 0, readyCreatedAt: 0 };

/** From the service's own figures, which settle a minute after the last change. */
export async function counts(context: Context, queue: string, options: CallOptions): Promise<QueueCounts> {
  const session = sessionOf(context, 'counts');
  const call = startCall('counts', options);
  const { counts: kinds } = context.capabilities;
  const { ready, scheduled, leased, dead, readyCreatedAt: createdAt } = await measure(session, queue, call);
  return {
    ready: { value: ready, kind: kinds.ready },
    scheduled: { value: scheduled, kind: kinds.scheduled },
    leased: { value: leased, kind: kinds.leased },
    dead: { value: dead, kind: kinds.dead },
    oldestReadyAgeMs: await oldestReadyAge(session, queue, { ready, createdAt }, call),
  };
}

/** Ready and scheduled, for a maximum depth. */
export async function depthOf(session: Session, queue: string, call: Call): Promise<number> {
  const { ready, scheduled } = await measure(session, queue, call);
  return ready + scheduled;
}

/** Queues under this prefix that hold a job or are paused, sorted. */
export async function queues(context: Context, options: CallOptions): Promise<readonly string[]> {
  const session = sessionOf(context, 'queues');
  const call = startCall('queues', options);
  const names = await namesOnServer(session, call);
  const found: string[] = [];
  const look = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      if (await isInUse(session, name, call)) found.push(name);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, look));
  return found.sort();
}

async function namesOnServer(session: Session, call: Call): Promise<string[]> {
  const { options, requests, sending } = session;
  const names = new Set<string>();
  let token: string | undefined;
  do {
    const page = await requests.ask(call, {
      action: 'ListQueues',
      verb: 'control',
      url: null,
      wire: sending,
      isRepeatable: true,
      send: (abortSignal) =>
        sending.client.send(
          new ListQueuesCommand({
            QueueNamePrefix: `${options.prefix}-`,
            MaxResults: PAGE,
            ...(token !== undefined && { NextToken: token }),
          }),
          { abortSignal },
        ),
    });
    for (const url of page.QueueUrls ?? []) {
      const name = queueIn(options.prefix, url);
      if (name !== null) names.add(name);
    }
    token = page.NextToken;
  } while (token !== undefined && token !== '');
  return [...names];
}

async function isInUse(session: Session, queue: string, call: Call): Promise<boolean> {
  if (session.held.holds(queue)) return true;
  const { ready, leased, scheduled, dead } = await measure(session, queue, call);
  if (ready + leased + scheduled + dead > 0) return true;
  const urls = await session.topology.existing(queue, call);
  return urls !== null && (await session.pauses.ask(queue, urls, call)) !== null;
}

async function measure(session: Session, queue: string, call: Call): Promise<Depth> {
  const urls = await session.topology.existing(queue, call);
  if (urls === null) return NONE;
  const [ready, delay, dead] = await Promise.all(
    ([urls.ready, urls.delay, urls.dead] satisfies QueueUrls[keyof QueueUrls][]).map((url) =>
      figures(session, url, call),
    ),
  );
  if (ready === undefined || delay === undefined || dead === undefined) return NONE;
  // A lease ends for us a little before the service shows its job again.
  const ended = Math.min(ready.hidden, session.held.endedButHidden(queue));
  return {
    ready: ready.visible + ended,
    leased: ready.hidden - ended,
    scheduled: ready.delayed + delay.visible + delay.hidden + delay.delayed,
    dead: dead.visible + dead.hidden + dead.delayed,
    readyCreatedAt: ready.createdAt,
  };
}

async function figures(session: Session, url: string, call: Call): Promise<Figures> {
  const found = await readAttributes(session, url, [...FIGURES, 'CreatedTimestamp'], call);
  const [visible = 0, hidden = 0, delayed = 0] = FIGURES.map((name) => Number(found[name] ?? 0));
  return { visible, hidden, delayed, createdAt: Number(found.CreatedTimestamp ?? 0) * 1000 };
}
