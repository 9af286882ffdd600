import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type QueueAttributeName,
} from '@aws-sdk/client-sqs';
import { isSuretyError } from '@surety/core/errors';
import { type Call, failure, LATE, timedOut, within } from './call.ts';
import { namesOf } from './names.ts';
import type { ResolvedOptions } from './options.ts';
import { RETENTION_MS } from './service-limits.ts';
import type { WireClient } from './wire/client.ts';
import type { Requests } from './wire/requests.ts';

/** Where the jobs of one queue are. */
export interface QueueUrls {
  readonly ready: string;
  readonly delay: string;
  readonly dead: string;
}

/** Making or checking three queues may take this long, whoever asked for it. */
const MAKING_MS = 8000;
/** A queue that was just made is not known to all parts of the service. */
const YOUNG_MS = 10_000;
/** The service itself moves a job only after this many receives without an end: a net, far above every limit of attempts. */
const NET_RECEIVES = 1000;
const FEWEST_NET_RECEIVES = 100;
const RETENTION_S = RETENTION_MS / 1000;

/** Finds, checks and makes the queues. What is there is never changed. */
export class Topology {
  readonly #options: ResolvedOptions;
  readonly #wire: WireClient;
  readonly #requests: () => Requests;
  readonly #known = new Map<string, Promise<QueueUrls>>();
  readonly #madeAt = new Map<string, number>();

  constructor(options: ResolvedOptions, wire: WireClient, requests: () => Requests) {
    this.#options = options;
    this.#wire = wire;
    this.#requests = requests;
  }

  isYoung(url: string): boolean {
    return performance.now() - (this.#madeAt.get(url) ?? Number.NEGATIVE_INFINITY) < YOUNG_MS;
  }

  /** The queues, made if need be. SCHEMA_MISSING, STORE_UNSUITABLE. */
  async of(queue: string, call: Call): Promise<QueueUrls> {
    const found = await within(this.#knownOrMade(queue, call.operation), call.deadline);
    if (found === LATE) throw timedOut(call.operation);
    return found;
  }

  /** The queues if they are there; nothing is made. */
  async existing(queue: string, call: Call): Promise<QueueUrls | null> {
    const known = this.#known.get(queue);
    if (known !== undefined) return this.of(queue, call);
    const names = namesOf(this.#options.prefix, queue);
    const ready = await this.#urlOf(names.ready, call);
    return ready === null ? null : this.of(queue, call);
  }

  /** Something was missing: looked for, and made, again when it is used next. */
  forget(queue: string): void {
    this.#known.delete(queue);
  }

  /** Runs a step; when a queue is missing under it, once more after it was made again. */
  async on<T>(queue: string, call: Call, step: (urls: QueueUrls) => Promise<T>): Promise<T> {
    try {
      return await step(await this.of(queue, call));
    } catch (error) {
      if (!isSuretyError(error) || error.code !== 'SCHEMA_MISSING' || !this.#options.create) throw error;
      this.forget(queue);
      return step(await this.of(queue, call));
    }
  }

  /** One answer whatever the queue: the service is there and knows the credentials. */
  async probe(call: Call): Promise<void> {
    try {
      await this.#urlOf(namesOf(this.#options.prefix, 'default').ready, call);
    } catch (error) {
      // Whoever may use some queues only is refused this one.
      const cause: unknown = isSuretyError(error) ? error.cause : null;
      const name = (cause as { readonly name?: unknown } | null)?.name;
      if (name !== 'AccessDenied' && name !== 'AccessDeniedException') throw error;
    }
  }

  #knownOrMade(queue: string, operation: string): Promise<QueueUrls> {
    const known = this.#known.get(queue);
    if (known !== undefined) return known;
    const making = this.#findOrMake(queue, { operation, deadline: performance.now() + MAKING_MS });
    this.#known.set(queue, making);
    making.catch(() => {
      if (this.#known.get(queue) === making) this.#known.delete(queue);
    });
    return making;
  }

  async #findOrMake(queue: string, call: Call): Promise<QueueUrls> {
    const names = namesOf(this.#options.prefix, queue);
    const [ready, delay, dead] = await Promise.all([
      this.#urlOf(names.ready, call),
      this.#urlOf(names.delay, call),
      this.#urlOf(names.dead, call),
    ]);
    const missing = [
      ready === null && names.ready,
      delay === null && names.delay,
      dead === null && names.dead,
    ];
    const name = missing.find((each) => each !== false);
    if (name !== undefined && !this.#options.create) {
      throw failure('SCHEMA_MISSING', `The queue "${name}" does not exist.`, call.operation, {
        remedy: 'Make it with `surety migrate`, or let the option `create` be true.',
      });
    }
    const deadUrl = dead ?? (await this.#make(names.dead, {}, call));
    const [delayUrl, deadArn] = await Promise.all([
      delay ?? this.#make(names.delay, {}, call),
      ready === null ? this.#arnOf(deadUrl, call) : '',
      ready === null ? null : this.#check(ready, names.ready, call, true),
      delay === null ? null : this.#check(delay, names.delay, call, false),
      dead === null ? null : this.#check(dead, names.dead, call, false),
    ]);
    const policy = JSON.stringify({ deadLetterTargetArn: deadArn, maxReceiveCount: NET_RECEIVES });
    const readyUrl = ready ?? (await this.#make(names.ready, { RedrivePolicy: policy }, call));
    return { ready: readyUrl, delay: delayUrl, dead: deadUrl };
  }

  async #urlOf(name: string, call: Call): Promise<string | null> {
    try {
      const { QueueUrl } = await this.#requests().ask(call, {
        action: 'GetQueueUrl',
        verb: 'control',
        url: null,
        wire: this.#wire,
        isRepeatable: true,
        send: (abortSignal) =>
          this.#wire.client.send(new GetQueueUrlCommand({ QueueName: name }), { abortSignal }),
      });
      return QueueUrl ?? null;
    } catch (error) {
      if (isSuretyError(error) && error.code === 'SCHEMA_MISSING') return null;
      throw error;
    }
  }

  async #make(name: string, more: Partial<Record<QueueAttributeName, string>>, call: Call): Promise<string> {
    const attributes = {
      MessageRetentionPeriod: String(RETENTION_S),
      MaximumMessageSize: String(this.#options.maxMessageBytes),
      ...more,
    };
    const { QueueUrl } = await this.#requests().ask(call, {
      action: 'CreateQueue',
      verb: 'control',
      url: null,
      wire: this.#wire,
      isRepeatable: true,
      send: (abortSignal) =>
        this.#wire.client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }), {
          abortSignal,
        }),
    });
    const url = QueueUrl ?? '';
    this.#madeAt.set(url, performance.now());
    return url;
  }

  async #arnOf(url: string, call: Call): Promise<string> {
    return (await this.#attributes(url, ['QueueArn'], call)).QueueArn ?? '';
  }

  /** Refuses a queue that would lose jobs or refuse messages that are promised to fit. */
  async #check(url: string, name: string, call: Call, isReady: boolean): Promise<void> {
    const found = await this.#attributes(
      url,
      ['MessageRetentionPeriod', 'MaximumMessageSize', 'RedrivePolicy'],
      call,
    );
    const wrong = (attribute: string, is: string, wanted: string): never => {
      throw failure(
        'STORE_UNSUITABLE',
        `The queue "${name}" has ${attribute} ${is}; ${wanted} is needed.`,
        call.operation,
        {
          remedy: `Set ${attribute} of that queue, or choose another prefix; Surety never changes a queue that is there.`,
        },
      );
    };
    const retention = Number(found.MessageRetentionPeriod ?? RETENTION_S);
    if (retention < RETENTION_S) wrong('MessageRetentionPeriod', `${retention} s`, `${RETENTION_S} s`);
    const size = Number(found.MaximumMessageSize ?? this.#options.maxMessageBytes);
    if (size < this.#options.maxMessageBytes)
      wrong('MaximumMessageSize', `${size}`, `${this.#options.maxMessageBytes} (the option maxMessageBytes)`);
    const receives = receivesIn(found.RedrivePolicy);
    if (isReady && receives !== null && receives < FEWEST_NET_RECEIVES)
      wrong(
        'a RedrivePolicy with maxReceiveCount',
        `${receives}`,
        `at least ${FEWEST_NET_RECEIVES}, or none,`,
      );
  }

  async #attributes(
    url: string,
    names: QueueAttributeName[],
    call: Call,
  ): Promise<Partial<Record<QueueAttributeName, string>>> {
    const { Attributes } = await this.#requests().ask(call, {
      action: 'GetQueueAttributes',
      verb: 'control',
      url,
      wire: this.#wire,
      isRepeatable: true,
      send: (abortSignal) =>
        this.#wire.client.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: names }), {
          abortSignal,
        }),
    });
    return Attributes ?? {};
  }
}

function receivesIn(policy: string | undefined): number | null {
  if (policy === undefined || policy === '') return null;
  const receives: unknown = (JSON.parse(policy) as { readonly maxReceiveCount?: unknown }).maxReceiveCount;
  return Number.isFinite(Number(receives)) ? Number(receives) : null;
}
