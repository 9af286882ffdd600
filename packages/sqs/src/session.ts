import { type Notice } from '@surety/core/contract';
import { type Call, closedError } from './call.ts';
import { HeldLeases, type Taken } from './claims/held.ts';
import { Lane } from './claims/lane.ts';
import { LoopBeat } from './claims/loop-beat.ts';
import { Pauses } from './claims/pauses.ts';
import { receive, takenOf } from './claims/receive.ts';
import { buryUnreadable, giveBack, hide } from './claims/returns.ts';
import type { Outgoing, Sending } from './copies.ts';
import { DelayPump } from './delays/pump.ts';
import { RetentionWatch } from './delays/retention-watch.ts';
import type { Health } from './health.ts';
import type { ResolvedOptions } from './options.ts';
import { type QueueUrls, Topology } from './topology.ts';
import { Batcher } from './wire/batcher.ts';
import { receivingClient, sendingClient, type WireClient } from './wire/client.ts';
import { QueueMetrics } from './wire/queue-metrics.ts';
import { Requests } from './wire/requests.ts';
import { ServerClock } from './wire/server-clock.ts';

/** A message to delete. */
export interface Ended {
  readonly ReceiptHandle: string;
}

/** A message to hide for a time from now. */
export interface Hidden extends Ended {
  readonly VisibilityTimeout: number;
}

/** Bytes of a message beside its body; small, so that no batch is refused for it. */
const ENTRY_BYTES = 64;

/** From one `open` to the next `close`: the connections and all that lives on them. */
export class Session implements Sending {
  readonly clock: ServerClock = new ServerClock();
  readonly requests: Requests;
  readonly topology: Topology;
  readonly pauses: Pauses;
  readonly held: HeldLeases = new HeldLeases();
  readonly sender: Batcher<Outgoing>;
  readonly deleter: Batcher<Ended>;
  readonly hider: Batcher<Hidden>;
  readonly maxMessageBytes: number;
  readonly receiving: WireClient;
  readonly sending: WireClient;
  readonly beat: LoopBeat = new LoopBeat();
  readonly options: ResolvedOptions;
  readonly notify: (notice: Notice) => void;
  readonly retention: RetentionWatch;
  readonly #lanes = new Map<string, Lane>();
  readonly #pumps = new Map<string, DelayPump>();
  /** Asked for counts and found without a ready job, by queue (`performance.now()`). */
  readonly seenEmpty: Map<string, number> = new Map();
  /** Null unless the age of the oldest ready job shall come from there. */
  metrics: QueueMetrics | null = null;
  #isClosed = false;

  constructor(options: ResolvedOptions, health: Health, notify: (notice: Notice) => void) {
    this.options = options;
    this.notify = notify;
    this.maxMessageBytes = options.maxMessageBytes;
    this.receiving = receivingClient(options, this.clock);
    this.sending = sendingClient(options, this.clock);
    const wire = this.sending;
    this.topology = new Topology(options, wire, () => this.requests);
    this.requests = new Requests(health, (url) => this.topology.isYoung(url));
    this.pauses = new Pauses(wire, this.requests, options.pauseCheckMs);
    this.retention = new RetentionWatch(this);
    const { hot } = wire;
    this.sender = new Batcher<Outgoing>(
      {
        action: 'SendMessageBatch',
        verb: 'send',
        wire,
        isRepeatable: false,
        maxBytes: options.maxMessageBytes,
        bytesOf: ({ MessageBody }) => Buffer.byteLength(MessageBody) + ENTRY_BYTES,
        send: (QueueUrl, Entries, signal) =>
          hot.ask('SendMessageBatch', { QueueUrl, Entries: [...Entries] }, signal),
      },
      this.requests,
    );
    const small = { wire, isRepeatable: true, maxBytes: Number.POSITIVE_INFINITY, bytesOf: () => 0 };
    this.deleter = new Batcher<Ended>(
      {
        ...small,
        action: 'DeleteMessageBatch',
        verb: 'delete',
        send: (QueueUrl, Entries, signal) =>
          hot.ask('DeleteMessageBatch', { QueueUrl, Entries: [...Entries] }, signal),
      },
      this.requests,
    );
    this.hider = new Batcher<Hidden>(
      {
        ...small,
        action: 'ChangeMessageVisibilityBatch',
        verb: 'visibility',
        send: (QueueUrl, Entries, signal) =>
          hot.ask('ChangeMessageVisibilityBatch', { QueueUrl, Entries: [...Entries] }, signal),
      },
      this.requests,
    );
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async open(call: Call): Promise<void> {
    await Promise.all([this.receiving.check(), this.sending.check()]);
    if (this.options.oldestAge === 'cloudwatch') this.metrics = await QueueMetrics.open(this.sending.client);
    await this.topology.probe(call);
    await Promise.all(this.options.queues.map((queue) => this.topology.of(queue, call)));
  }

  /** The way in from a queue. Whoever claims also pumps: jobs that are due later come nearer in every worker process. */
  lane(queue: string): Lane {
    if (this.#isClosed) throw closedError('claim');
    if (!this.#pumps.has(queue)) {
      const pump = new DelayPump(this, queue);
      this.#pumps.set(queue, pump);
      pump.start();
    }
    const known = this.#lanes.get(queue);
    if (known !== undefined) return known;
    const lane = new Lane(
      {
        receive: (max, hiddenS, waitS, call) => this.#receive(queue, max, hiddenS, waitS, call),
        giveBack: (taken) => giveBack(this, taken),
        hide: (taken, hiddenS, call) => hide(this, taken, hiddenS, call),
      },
      this.options.pollSeconds,
    );
    this.#lanes.set(queue, lane);
    return lane;
  }

  /** Ends waiting claims of a queue that was paused here. */
  paused(queue: string): void {
    this.#lanes.get(queue)?.pause();
  }

  /** Within the time: what was received and not claimed goes back, then all connections end. */
  async close(graceMs: number): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const pump of this.#pumps.values()) pump.stop();
    const lanes = Promise.all([...this.#lanes.values()].map((lane) => lane.close()));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([lanes, late]);
    clearTimeout(timer);
    lanes.catch(() => undefined);
    this.requests.close();
    this.receiving.close();
    this.sending.close();
    this.metrics?.close();
    this.held.clear();
  }

  async #receive(
    queue: string,
    max: number,
    hiddenS: number,
    waitS: number,
    call: Call,
  ): Promise<readonly Taken[]> {
    return this.topology.on(queue, call, async (urls) => {
      const answer = await receive(
        { wire: this.receiving, requests: this.requests, clock: this.clock, beat: this.beat },
        { url: urls.ready, max, hiddenS, waitS },
        call,
      );
      const taken: Taken[] = [];
      for (const received of answer.messages) {
        const each = takenOf(received, answer, { queue, urls, hiddenS });
        if ('broken' in each) void buryUnreadable(this, queue, urls, received, each.broken);
        else taken.push(each);
      }
      if (answer.messages.length > 0) this.retention.received(queue, answer.messages);
      return taken;
    });
  }

  /** Where a job of this queue waits that is due later than the service can keep it back. */
  urls(queue: string, call: Call): Promise<QueueUrls> {
    return this.topology.of(queue, call);
  }
}
