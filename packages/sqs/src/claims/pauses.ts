import { ListQueueTagsCommand, TagQueueCommand, UntagQueueCommand } from '@aws-sdk/client-sqs';
import type { Call } from '../call.ts';
import type { QueueUrls } from '../topology.ts';
import type { WireClient } from '../wire/client.ts';
import type { Requests } from '../wire/requests.ts';

interface Known {
  readonly since: string | null;
  /** `performance.now()` before the service was asked. */
  readonly at: number;
  readonly believedMs: number;
}

/** The tag of a paused queue; its value says since when. */
const TAG = 'surety-paused';

/** Which queues are paused: a tag of the queue tells, which every process looks at from time to time. */
export class Pauses {
  readonly #wire: WireClient;
  readonly #requests: Requests;
  readonly #checkMs: number;
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Promise<string | null>>();

  constructor(wire: WireClient, requests: Requests, checkMs: number) {
    this.#wire = wire;
    this.#requests = requests;
    this.#checkMs = checkMs;
  }

  /** As of no longer ago than `pauseCheckMs`. */
  async isPaused(queue: string, urls: QueueUrls, call: Call): Promise<boolean> {
    const known = this.#known.get(queue);
    if (known !== undefined && performance.now() - known.at < known.believedMs) return known.since !== null;
    return (await this.#shared(queue, urls, call)) !== null;
  }

  /** What is known for now, without asking; null: too old, or never asked. */
  known(queue: string): boolean | null {
    const known = this.#known.get(queue);
    const isFresh = known !== undefined && performance.now() - known.at < known.believedMs;
    return isFresh ? known.since !== null : null;
  }

  async pause(queue: string, urls: QueueUrls, now: string, call: Call): Promise<void> {
    const since = (await this.ask(queue, urls, call)) ?? now;
    await this.#control('TagQueue', urls.ready, call, (abortSignal) =>
      this.#wire.client.send(new TagQueueCommand({ QueueUrl: urls.ready, Tags: { [TAG]: since } }), {
        abortSignal,
      }),
    );
    this.#changed(queue, since);
  }

  async resume(queue: string, urls: QueueUrls, call: Call): Promise<void> {
    await this.#control('UntagQueue', urls.ready, call, (abortSignal) =>
      this.#wire.client.send(new UntagQueueCommand({ QueueUrl: urls.ready, TagKeys: [TAG] }), {
        abortSignal,
      }),
    );
    this.#changed(queue, null);
  }

  #changed(queue: string, since: string | null): void {
    // An answer that is on its way is older than this.
    this.#asking.delete(queue);
    this.#remember(queue, since, performance.now());
  }

  #remember(queue: string, since: string | null, at: number): void {
    const known = this.#known.get(queue);
    if (known !== undefined && known.at > at) return;
    // Spread, so that many processes do not ask in step.
    this.#known.set(queue, { since, at, believedMs: this.#checkMs * (0.75 + Math.random() / 4) });
  }

  #shared(queue: string, urls: QueueUrls, call: Call): Promise<string | null> {
    const under = this.#asking.get(queue);
    if (under !== undefined) return under;
    const asking = this.ask(queue, urls, call).finally(() => {
      if (this.#asking.get(queue) === asking) this.#asking.delete(queue);
    });
    this.#asking.set(queue, asking);
    return asking;
  }

  /** Asks the service: since when it is paused (ISO 8601), or null. */
  async ask(queue: string, urls: QueueUrls, call: Call): Promise<string | null> {
    const at = performance.now();
    const { Tags } = await this.#control('ListQueueTags', urls.ready, call, (abortSignal) =>
      this.#wire.client.send(new ListQueueTagsCommand({ QueueUrl: urls.ready }), { abortSignal }),
    );
    const since = Tags?.[TAG] ?? null;
    this.#remember(queue, since, at);
    return since;
  }

  #control<T>(
    action: string,
    url: string,
    call: Call,
    send: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const wire = this.#wire;
    return this.#requests.ask(call, { action, verb: 'control', url, wire, isRepeatable: true, send });
  }
}
