import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel, ConsumeMessage } from 'amqplib';
import { type Call, LATE, timedOut, within } from '../call.ts';
import { Deliveries } from '../claims/deliveries.ts';
import { Unproven } from '../claims/unproven.ts';
import type { Envelope } from '../envelope.ts';
import { decode } from '../message-body.ts';
import { fromNative, replyCode } from '../native-errors.ts';
import type { Session } from '../session.ts';
import { answered, onChannel, type Wire } from '../wire/open-wire.ts';

/** A dead letter that was read. */
export interface DeadEntry {
  readonly tag: number;
  readonly envelope: Envelope;
  readonly payload: Buffer;
  /** When the broker itself dead-lettered it, by its clock; null: Surety did. */
  readonly brokerAt: number | null;
}

/** What is done with what was found, before the rest goes back. */
export interface DeadScan<T> {
  /** Whether an entry is wanted, and whether the search may end with it. */
  readonly visit: (entry: DeadEntry) => { readonly wanted: boolean; readonly enough: boolean };
  /** What is given to `remove` is gone once the scan has ended. */
  readonly act: (entries: readonly DeadEntry[], remove: (entry: DeadEntry) => void) => Promise<T>;
}

/** First step of the search; each further one holds four times as many. */
const FIRST_STEP = 128;
const MOST = 65_535;
/** A queue that has more than it delivers: somebody else holds the rest. */
const SILENCE_MS = 250;
/** For what went back to be seen by whoever looks next. */
const RETURN_MS = 1000;

/**
 * Looks through the dead letters of a queue: takes them from its head, keeps them unacknowledged meanwhile, and gives back what is not removed. One at a
 * time, in all processes: otherwise one would not see what another holds just then. Their place is kept by an exclusive queue, which
 * ends with its connection.
 */
export async function scanDead<T>(
  session: Session,
  queue: string,
  call: Call,
  scan: DeadScan<T>,
): Promise<T> {
  return inTurn(session, queue, call, async () => {
    const wire = await session.control.get(call);
    const unlock = await lock(session, wire, queue, call);
    try {
      return await answered(
        wire,
        call,
        onChannel(wire, (channel) => scanOn(session, channel, queue, call, scan)),
      );
    } catch (native) {
      throw fromNative(native, call.operation);
    } finally {
      await unlock();
    }
  });
}

async function scanOn<T>(
  session: Session,
  channel: Channel,
  queue: string,
  call: Call,
  scan: DeadScan<T>,
): Promise<T> {
  const name = session.names.dead(queue);
  const count = await channel.checkQueue(name).then(
    ({ messageCount }) => messageCount,
    (native: unknown) => {
      if (replyCode(native) === 404) return 0;
      throw native;
    },
  );
  if (count === 0) return scan.act([], () => undefined);
  const unproven = new Unproven();
  const deliveries = new Deliveries(channel, unproven);
  const found = await search(channel, name, count, call, scan.visit, deliveries);
  const removed = new Set<number>();
  const result = await scan.act(found, ({ tag }) => void removed.add(tag));
  for (let left: readonly number[] = [...removed]; left.length > 0; ) {
    left = deliveries.ack(left);
    // Answered by way of the queue's log: what was sent before is gone for good. The one that it brings goes back with the rest.
    const message = await unproven.behind(() => channel.get(name));
    if (message !== false) deliveries.add(message, null);
  }
  // In its order, at the head.
  deliveries.nackAll();
  await arrived(channel, name, count - removed.size);
  return result;
}

async function search(
  channel: Channel,
  name: string,
  count: number,
  call: Call,
  visit: DeadScan<unknown>['visit'],
  deliveries: Deliveries,
): Promise<readonly DeadEntry[]> {
  const found: DeadEntry[] = [];
  let seen = 0;
  let enough = false;
  for (let step = FIRST_STEP; seen < count && !enough; step *= 4) {
    const wanted = Math.min(step, count - seen, MOST);
    const { promise: done, resolve: end } = Promise.withResolvers<void>();
    let got = 0;
    let quiet = setTimeout(end, SILENCE_MS);
    const tag = randomUUID();
    await channel.prefetch(wanted, false);
    await channel.consume(
      name,
      (message) => {
        clearTimeout(quiet);
        if (message === null) return end();
        got += 1;
        deliveries.add(message, null);
        const entry = read(message);
        if (entry !== null && !enough) {
          const verdict = visit(entry);
          if (verdict.wanted) found.push(entry);
          enough = verdict.enough;
        }
        if (got >= wanted || enough) end();
        else quiet = setTimeout(end, SILENCE_MS);
      },
      { consumerTag: tag },
    );
    const ended = await within(done, call.deadline);
    clearTimeout(quiet);
    await channel.cancel(tag);
    if (ended === LATE) throw timedOut(call);
    seen += got;
    if (got < wanted) break;
  }
  return found;
}

function read(message: ConsumeMessage): DeadEntry | null {
  const decoded = decode(message);
  if ('broken' in decoded) return null;
  const { envelope, payload } = decoded;
  return {
    tag: message.fields.deliveryTag,
    envelope,
    payload,
    brokerAt: envelope.deadAt === null ? deathIn(message) : null,
  };
}

function deathIn({ properties }: ConsumeMessage): number | null {
  const death = properties.headers?.['x-death']?.[0] as
    | { readonly time?: { readonly value?: unknown } }
    | undefined;
  const seconds = death?.time?.value;
  return typeof seconds === 'number' ? seconds * 1000 : null;
}

async function arrived(channel: Channel, name: string, expected: number): Promise<void> {
  const deadline = performance.now() + RETURN_MS;
  while ((await channel.checkQueue(name)).messageCount < expected) {
    if (performance.now() > deadline) return;
    await sleep(3);
  }
}

const turns = new WeakMap<Session, Map<string, Promise<unknown>>>();

/** One at a time in this process: the exclusive queue belongs to its connection. */
async function inTurn<T>(session: Session, queue: string, call: Call, work: () => Promise<T>): Promise<T> {
  const own = turns.get(session) ?? new Map<string, Promise<unknown>>();
  turns.set(session, own);
  const before = own.get(queue) ?? Promise.resolve();
  const mine = before
    .catch(() => undefined)
    .then(() => {
      // Whoever asked has been told by now.
      if (performance.now() >= call.deadline) throw timedOut(call);
      return work();
    });
  own.set(
    queue,
    mine.catch(() => undefined),
  );
  const result = await within(mine, call.deadline);
  if (result === LATE) throw timedOut(call);
  return result;
}

async function lock(session: Session, wire: Wire, queue: string, call: Call): Promise<() => Promise<void>> {
  const name = session.names.deadLock(queue);
  for (;;) {
    try {
      await answered(
        wire,
        call,
        onChannel(wire, (channel) =>
          channel.assertQueue(name, { exclusive: true, durable: false, autoDelete: true }),
        ),
      );
      return async () => {
        const unlocked = onChannel(wire, (channel) => channel.deleteQueue(name)).catch(() => undefined);
        await within(unlocked, performance.now() + RETURN_MS);
      };
    } catch (native) {
      const reply = replyCode(native);
      // Where this process may declare nothing it looks without a lock.
      if (reply === 403) return async () => undefined;
      if (reply !== 405) throw fromNative(native, call.operation);
    }
    const pauseMs = 10 + Math.random() * 40;
    if (performance.now() + pauseMs >= call.deadline) throw timedOut(call);
    await sleep(pauseMs);
  }
}
