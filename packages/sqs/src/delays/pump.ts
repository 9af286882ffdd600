import { setTimeout as sleep } from 'node:timers/promises';
import { isSuretyError } from '@surety/core/errors';
import { type Call, startCall } from '../call.ts';
import { type Received, receive } from '../claims/receive.ts';
import { endOriginal, send } from '../copies.ts';
import { readAttributes } from '../operations/attributes.ts';
import { MAX_DELAY_S, MAX_ENTRIES, MAX_VISIBILITY_S, RETENTION_MS } from '../service-limits.ts';
import type { Session } from '../session.ts';
import type { QueueUrls } from '../topology.ts';

/** What the pump looks at is hidden from other pumps for this long; if it dies meanwhile, the next look finds it. */
const HOLD_S = 60;
/** From this age on a message is sent anew, so that as much time is left for a fleet that stands still. */
const RENEW_MS = RETENTION_MS / 2;
/** Below the service's limit of 120,000 hidden messages: more are sent anew instead, with a delay, which is not counted there. */
const MOST_HIDDEN = 100_000;
const COUNT_EVERY_MS = 60_000;
const STEP_MS = 30_000;
const FIRST_REST_MS = 1000;
const LONGEST_REST_MS = 60_000;
const WATCH_EVERY_MS = 60 * 60 * 1000;

/**
 * Brings jobs nearer that are due in more than 15 minutes, the longest delay of the service. They wait in a queue of their own, hidden for up to twelve
 * hours at a time; the last 15 minutes they spend among the ready ones, with a delay that the service keeps. Any number of pumps may run. A pump that dies
 * between copy and delete leaves two copies, never none.
 */
export class DelayPump {
  readonly #session: Session;
  readonly #queue: string;
  readonly #stop = new AbortController();
  #hidden = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  #watchedAt = performance.now();

  constructor(session: Session, queue: string) {
    this.#session = session;
    this.#queue = queue;
  }

  start(): void {
    void this.#run();
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    let restMs = FIRST_REST_MS;
    while (!this.#stop.signal.aborted) {
      try {
        const count = await this.#step();
        restMs = FIRST_REST_MS;
        if (count < MAX_ENTRIES) await this.#rest(count > 0 ? 0 : this.#session.options.delayCheckMs);
      } catch (error) {
        // Requests tell of their failures themselves; the jobs wait where they are.
        const isLasting = isSuretyError(error) && error.retryable === 'no';
        await this.#rest(isLasting ? LONGEST_REST_MS : restMs * (0.5 + Math.random()));
        restMs = Math.min(restMs * 2, LONGEST_REST_MS);
      }
    }
  }

  async #rest(ms: number): Promise<void> {
    // A resting pump keeps no process alive.
    await sleep(ms, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
  }

  async #step(): Promise<number> {
    const { pollSeconds } = this.#session.options;
    const call = startCall('claim', { timeoutMs: pollSeconds * 1000 + STEP_MS });
    const { topology, receiving, requests, clock, beat } = this.#session;
    await this.#watch(call);
    return topology.on(this.#queue, call, async (urls) => {
      const { messages, askedAt } = await receive(
        { wire: receiving, requests, clock, beat },
        { url: urls.delay, max: MAX_ENTRIES, hiddenS: HOLD_S, waitS: pollSeconds },
        call,
      );
      await Promise.all(messages.map((message) => this.#move(message, urls, askedAt, call)));
      return messages.length;
    });
  }

  async #move(message: Received, urls: QueueUrls, askedAt: number, call: Call): Promise<void> {
    const { decoded, handle, sentAt } = message;
    // What cannot be read is sent on: whoever claims it buries it.
    if ('broken' in decoded) return this.#replace(message, urls, null, call);
    const now = this.#session.clock.earliest();
    const leftMs = decoded.envelope.dueAt - now;
    const parkMs = leftMs - MAX_DELAY_S * 1000;
    if (parkMs <= 0 || isOld(now - sentAt, parkMs)) {
      return this.#replace(message, urls, Math.max(0, leftMs), call);
    }
    if (await this.#isFull(urls, call)) return this.#replace(message, urls, leftMs, call);
    const heldS = Math.ceil((performance.now() - askedAt) / 1000);
    const seconds = Math.min(Math.ceil(parkMs / 1000), MAX_VISIBILITY_S - heldS - HOLD_S);
    const entry = { ReceiptHandle: handle, VisibilityTimeout: Math.max(0, seconds) };
    const { status } = await this.#session.hider.add(urls.delay, entry, call);
    if (status === 'done') this.#hidden += 1;
  }

  /** The copy first, and only when it is stored the original goes. */
  async #replace(
    { decoded, body, handle }: Received,
    urls: QueueUrls,
    delayMs: number | null,
    call: Call,
  ): Promise<void> {
    const { sender } = this.#session;
    const sent =
      'broken' in decoded
        ? await sender.add(urls.ready, { MessageBody: body, DelaySeconds: 0 }, call)
        : await send(this.#session, urls, decoded, { to: 'later', delayMs: delayMs ?? 0 }, call);
    const id = 'broken' in decoded ? null : decoded.envelope.id;
    await endOriginal(this.#session, { queue: this.#queue, id, url: urls.delay, handle }, sent, call);
  }

  async #isFull(urls: QueueUrls, call: Call): Promise<boolean> {
    if (performance.now() - this.#countedAt > COUNT_EVERY_MS) {
      this.#countedAt = performance.now();
      const found = await readAttributes(
        this.#session,
        urls.delay,
        ['ApproximateNumberOfMessagesNotVisible'],
        call,
      );
      this.#hidden = Number(found.ApproximateNumberOfMessagesNotVisible ?? 0);
    }
    return this.#hidden >= MOST_HIDDEN;
  }

  /** Once an hour, in a paused queue too. */
  async #watch(call: Call): Promise<void> {
    if (performance.now() - this.#watchedAt < WATCH_EVERY_MS) return;
    this.#watchedAt = performance.now();
    const { topology, pauses, retention, clock } = this.#session;
    const urls = await topology.of(this.#queue, call);
    await this.#watchDead(urls, call);
    if ((await this.#visibleIn(urls.ready, call)) === 0) return;
    const since = await pauses.ask(this.#queue, urls, call);
    retention.untouched(this.#queue, since === null ? null : clock.likely() - Date.parse(since));
  }

  /** A look at some dead letters, which hides them from nobody. Nothing limits how often they are received. */
  async #watchDead(urls: QueueUrls, call: Call): Promise<void> {
    if ((await this.#visibleIn(urls.dead, call)) === 0) return;
    const { receiving: wire, requests, clock, beat, retention } = this.#session;
    const { messages } = await receive(
      { wire, requests, clock, beat },
      { url: urls.dead, max: MAX_ENTRIES, hiddenS: 0, waitS: 1 },
      call,
    );
    if (messages.length > 0) retention.sawDead(this.#queue, messages);
  }

  async #visibleIn(url: string, call: Call): Promise<number> {
    const found = await readAttributes(this.#session, url, ['ApproximateNumberOfMessages'], call);
    return Number(found.ApproximateNumberOfMessages ?? 0);
  }
}

/** Another stay would bring it too near to the end of its retention. */
function isOld(ageMs: number, parkMs: number): boolean {
  return ageMs + Math.min(parkMs, MAX_VISIBILITY_S * 1000) > RENEW_MS;
}
