import type { Call } from './call.ts';
import { type Envelope, encode } from './envelope.ts';
import { routeFor } from './ladder.ts';
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
  readonly payload: Buffer;
  readonly target: Target;
}

/** The first half of every move: a confirmed copy. The caller acknowledges the original afterwards, never before. */
export class Moves {
  readonly #names: Names;
  readonly #topology: Topology;
  readonly #publisher: Publisher;
  readonly #met: Set<string>;

  constructor(names: Names, topology: Topology, publisher: Publisher, met: Set<string>) {
    this.#names = names;
    this.#topology = topology;
    this.#publisher = publisher;
    this.#met = met;
  }

  /** Publishes copies. What had no queue is sent once more after the queues were made again: a job's own move may not fail for that. */
  async copy(copies: readonly Copy[], call: Call): Promise<readonly Published[]> {
    const outgoing = copies.map(({ queue, envelope, payload, target }) =>
      this.outgoing(queue, envelope, payload, target),
    );
    const prepared = await this.prepare(copies, call);
    if (prepared !== null)
      return outgoing.map(() => ({ status: 'refused', error: prepared, unroutable: false }));
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
      const level = target.to === 'later' ? (routeFor(target.delayMs)?.level ?? -1) : -1;
      tops.set(queue, Math.max(level, tops.get(queue) ?? -1));
    }
    try {
      for (const [queue, top] of tops) {
        this.#met.add(queue);
        if (top < 0) await this.#topology.base(queue, call);
        else await this.#topology.ladder(queue, top, call);
      }
      return null;
    } catch (error) {
      return fromNative(error, call.operation);
    }
  }

  outgoing(queue: string, envelope: Envelope, payload: Buffer, target: Target): Outgoing {
    const { options, body } = encode(envelope, payload);
    if (target.to === 'dead') return { exchange: '', key: this.#names.dead(queue), body, options };
    const route = target.to === 'later' ? routeFor(target.delayMs) : null;
    if (route === null) return { exchange: '', key: this.#names.ready(queue), body, options };
    return { exchange: this.#names.delay(queue, route.level), key: route.key, body, options };
  }
}
