import type { Message } from 'amqplib';
import { type Call, startCall } from '../call.ts';
import { atClaim, brokerCounts } from '../envelope.ts';
import { decode, encode, idOf } from '../message-body.ts';
import type { Moves } from '../moves.ts';
import type { Names } from '../names.ts';
import { replyCode } from '../native-errors.ts';
import type { Line } from '../wire/line.ts';
import { newNonce } from '../wire/new-nonce.ts';
import { answered, type Wire } from '../wire/open-wire.ts';
import type { Outgoing, Publisher } from '../wire/publisher.ts';
import { returnsFree } from '../wire/version.ts';
import type { Held } from './held.ts';
import { Lane } from './lane.ts';
import { RENEWED } from './lane-events.ts';
import { RecentCopies } from './recent-copies.ts';

/** What goes back by itself has this long. */
const GIVE_BACK: { readonly timeoutMs: number } = { timeoutMs: 5000 };

/**
 * A channel that brings nothing and holds nothing for so long is given up for another. RabbitMQ can lose a delivery with the leader of the queue: it counts as
 * delivered, and never arrives, until another follows it. Only the end of the channel brings it back.
 */
const QUIET_MS = 12_000;

/** What lanes work with. */
export interface LaneSetting {
  readonly names: Names;
  readonly moves: Moves;
  readonly publisher: Publisher;
  /** Jobs come and are acknowledged here. Nothing is ever published over it: an alarm would stop the acknowledgements too. */
  readonly line: Line;
  /** A lane has ended although its connection stands; `missing`: its queue is not to be relied on any more. */
  readonly ended: (queue: string, reason: unknown, missing: boolean) => void;
  /** Ids of jobs that were copied, or may have been, and whose originals come back too. */
  readonly doubled: (queue: string, ids: readonly string[]) => void;
}

/** The lanes of a session, one per queue, made when they are first needed and again after they were lost. */
export class Lanes {
  readonly #setting: LaneSetting;
  readonly #openings = new Map<string, Promise<Lane>>();
  readonly #open = new Map<string, Lane>();
  readonly #returns = new Set<Promise<void>>();
  readonly #recent = new WeakMap<Lane, RecentCopies>();

  readonly #renewal: NodeJS.Timeout;

  constructor(setting: LaneSetting) {
    this.#setting = setting;
    this.#renewal = setInterval(() => this.#renewQuiet(), QUIET_MS / 4);
    this.#renewal.unref();
  }

  /** The lane of a queue, on a connection that stands. */
  async get(queue: string, call: Call): Promise<Lane> {
    for (;;) {
      const wire = await this.#setting.line.get(call);
      const before = this.#openings.get(queue);
      if (before !== undefined) {
        const lane = await answered(wire, call, before);
        if (lane.isOpen && lane.wire === wire) return lane;
      }
      // Somebody else may have begun to open it meanwhile.
      if (this.#openings.get(queue) === before) return answered(wire, call, this.#begin(wire, queue));
    }
  }

  /** The lane of a queue, if it stands now. */
  open(queue: string): Lane | null {
    const lane = this.#open.get(queue);
    return lane?.isOpen === true ? lane : null;
  }

  /** As `open`, one that is just being opened included. */
  async opening(queue: string): Promise<Lane | null> {
    const lane = await this.#openings.get(queue)?.catch(() => null);
    return lane?.isOpen === true ? lane : null;
  }

  /** The end of a lease: the job goes back, counted by the broker. */
  expire({ lane, tag }: Held): void {
    if (!lane.isOpen) return;
    try {
      lane.reject(tag);
    } catch {
      // The channel is closed, which has given the job back already.
      return;
    }
    void this.#returning(lane.barrier(startCall('claim', GIVE_BACK)));
  }

  /** Waits until what went back, by the end of its lease or because nobody claimed it, has arrived at the broker. */
  async returned(call: Call): Promise<void> {
    if (this.#returns.size === 0) return;
    await Promise.race([Promise.all(this.#returns), until(call.deadline)]);
  }

  /** Ends all waiting claims; what was delivered and not claimed goes back unharmed. */
  async pauseAll(deadline: number): Promise<void> {
    const pauses = [...this.#openings.values()].map(async (opening) => (await opening).pause());
    // One that lingered no longer may be giving back already: cut off half-way it would leave two copies.
    const all = Promise.allSettled(pauses).then(() => Promise.all(this.#returns));
    await Promise.race([all, until(deadline)]);
  }

  closeAll(): void {
    clearInterval(this.#renewal);
    for (const opening of this.#openings.values())
      void opening.then((lane) => lane.close()).catch(() => undefined);
  }

  /** What fails of it was not acknowledged, and comes back by the end of the channel. */
  #returning(work: Promise<void>): Promise<void> {
    const done: Promise<void> = work.catch(() => undefined).finally(() => this.#returns.delete(done));
    this.#returns.add(done);
    return done;
  }

  #renewQuiet(): void {
    for (const lane of this.#open.values())
      if (lane.isOpen && lane.isWaiting && lane.quietMs > QUIET_MS) void lane.renew();
  }

  #begin(wire: Wire, queue: string): Promise<Lane> {
    const opening = this.#make(wire, queue);
    this.#openings.set(queue, opening);
    opening.catch(() => {
      if (this.#openings.get(queue) === opening) this.#openings.delete(queue);
    });
    return opening;
  }

  async #make(wire: Wire, queue: string): Promise<Lane> {
    const channel = await wire.channel();
    const made = new Lane(wire, channel, queue, this.#setting.names.ready(queue), {
      unclaimed: (lane, messages) => this.#returning(this.#giveBack(lane, messages)),
      ended: (lane, reason, cancelled) => {
        if (reason === RENEWED) return;
        this.#setting.doubled(queue, this.#recent.get(lane)?.take() ?? []);
        if (wire.isOpen) this.#setting.ended(queue, reason, cancelled || replyCode(reason) === 404);
      },
    });
    this.#open.set(queue, made);
    return made;
  }

  /** Delivered, never claimed: back without a charge. Waits until that has arrived: the end of the connection may overtake it, and would charge or double them. */
  async #giveBack(lane: Lane, messages: readonly Message[]): Promise<void> {
    if (returnsFree(lane.wire)) for (const { fields } of messages) lane.nack(fields.deliveryTag);
    else await this.#replace(lane, messages);
    if (lane.isOpen) await lane.barrier(startCall('claim', GIVE_BACK));
  }

  /** Back by copies, where the version cannot by itself. */
  async #replace(lane: Lane, messages: readonly Message[]): Promise<void> {
    const copies = messages.map((message) => this.#copyOf(lane.queue, message));
    const results = await this.#setting.publisher.publish(copies, startCall('claim', GIVE_BACK));
    const copied = messages.filter((_, index) => results[index]?.status === 'stored');
    const uncertain = messages.filter((_, index) => results[index]?.status === 'unknown');
    const isBack = lane.isOpen;
    // A fault in between leaves two of them, never none.
    const doubled = isBack ? uncertain : [...copied, ...uncertain];
    this.#setting.doubled(lane.queue, doubled.map(idOf));
    if (!isBack) return;
    const kept = new Set(copied);
    for (const message of messages) if (!kept.has(message)) lane.reject(message.fields.deliveryTag);
    if (copied.length === 0) return;
    const recent = this.#recent.get(lane) ?? new RecentCopies();
    this.#recent.set(lane, recent);
    recent.add(copied);
    await lane.acknowledge(
      copied.map(({ fields }) => fields.deliveryTag),
      startCall('claim', GIVE_BACK),
    );
  }

  #copyOf(queue: string, message: Message): Outgoing {
    const { names, moves } = this.#setting;
    const decoded = decode(message);
    if (!('broken' in decoded)) {
      const envelope = atClaim(decoded.envelope, brokerCounts(message));
      return moves.outgoing(queue, encode(envelope, decoded.payload), { to: 'ready' });
    }
    // Not ours: its own headers may be anything, and some of them the broker would believe.
    const options = { messageId: newNonce() };
    return { exchange: '', key: names.ready(queue), body: message.content, options };
  }
}

function until(deadline: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, deadline - performance.now())).unref());
}
