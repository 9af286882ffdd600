import type { Call } from './call.ts';
import type { BrokerClock } from './delays/broker-clock.ts';
import { stayHeader } from './delays/stay-header.ts';
import type { Envelope } from './envelope.ts';
import { levelFor, stayUntil } from './ladder.ts';
import { type Encoded, encode } from './message-body.ts';
import type { Names } from './names.ts';
import { fromNative } from './native-errors.ts';
import type { Topology } from './topology.ts';
import type { Outgoing, Published, Publisher } from './wire/publisher.ts';

/** Where a copy goes. */
export type Target = { readonly to: 'ready' | 'dead' } | { readonly to: 'later'; readonly delayMs: number };

/** A copy to be made of a job. */
export interface Copy {
  readonly queue: string;
  readonly envelope: Envelope;
  readonly payload: string | Buffer;
  readonly target: Target;
}

/** The first half of every move: a confirmed copy. The caller acknowledges the original afterwards, never before. */
export class Moves {
  readonly #names: Names;
  readonly #topology: Topology;
  readonly #publisher: Publisher;
  readonly #clock: BrokerClock;
  readonly #meet: (queue: string) => void;

  constructor(
    names: Names,
    topology: Topology,
    publisher: Publisher,
    clock: BrokerClock,
    meet: (queue: string) => void,
  ) {
    this.#names = names;
    this.#topology = topology;
    this.#publisher = publisher;
    this.#clock = clock;
    this.#meet = meet;
  }

  /** Publishes copies. What had no queue is sent once more after the queues were made again: a job's own move may not fail for that. */
  async copy(copies: readonly Copy[], call: Call): Promise<readonly Published[]> {
    const prepared = await this.prepare(copies, call);
    if (prepared !== null)
      return copies.map(() => ({ status: 'refused', error: prepared, unroutable: false }));
    const outgoing = copies.map(({ queue, envelope, payload, target }) =>
      this.outgoing(queue, encode(envelope, payload), target),
    );
    const published = await this.#publisher.publish(outgoing, call);
    const stray = published.flatMap((result, index) =>
      result.status === 'refused' && result.unroutable ? [index] : [],
    );
    if (stray.length === 0) return published;
    for (const index of stray) this.#topology.forget(copies[index]?.queue ?? '');
    if ((await this.prepare(copies, call)) !== null) return published;
    const again = await this.#publisher.publish(
      stray.flatMap((index) => outgoing[index] ?? []),
      call,
    );
    return published.map((result, index) => again[stray.indexOf(index)] ?? result);
  }

  /** Makes the queues that messages will need; the error if that fails. */
  async prepare(
    items: readonly { readonly queue: string; readonly target: Target }[],
    call: Call,
  ): Promise<ReturnType<typeof fromNative> | null> {
    const tops = new Map<string, number>();
    for (const { queue, target } of items) {
      const level = target.to === 'later' ? (levelFor(target.delayMs) ?? -1) : -1;
      tops.set(queue, Math.max(level, tops.get(queue) ?? -1));
    }
    try {
      for (const [queue, top] of tops) {
        this.#meet(queue);
        if (top < 0) await this.#topology.base(queue, call);
        else await this.#topology.ladder(queue, top, call);
        if (top >= 0) await this.#clock.known(call);
      }
      return null;
    } catch (error) {
      return fromNative(error, call.operation);
    }
  }

  outgoing(queue: string, { options, body }: Encoded, target: Target): Outgoing {
    if (target.to === 'dead') return { exchange: '', key: this.#names.dead(queue), body, options };
    const now = target.to === 'later' ? this.#clock.latest() : 0;
    const stay = target.to === 'later' ? stayUntil(now + target.delayMs, now) : null;
    if (stay === null) return { exchange: '', key: this.#names.ready(queue), body, options };
    return {
      exchange: '',
      key: this.#names.delay(queue, stay.level),
      body,
      options: { ...options, headers: stayHeader(stay) },
    };
  }
}
