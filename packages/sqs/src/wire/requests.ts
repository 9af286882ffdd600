import { setTimeout as sleep } from 'node:timers/promises';
import { isSuretyError, type SuretyError } from '@surety/core/errors';
import { type Call, closedError, timedOut, timerMs } from '../call.ts';
import type { Health } from '../health.ts';
import { fromNative, meaningOf, nameOf } from '../native-errors.ts';
import type { WireClient } from './client.ts';

/** Kinds of requests whose health is told apart. */
export type Verb = 'receive' | 'send' | 'delete' | 'visibility' | 'control';

/** One request. */
export interface Request<T> {
  /** As the service's rights name it. */
  readonly action: string;
  readonly verb: Verb;
  /** The queue that it is sent to; null: it looks for one. */
  readonly url: string | null;
  readonly wire: WireClient;
  readonly send: (signal: AbortSignal) => Promise<T>;
  /** Doing it twice is as good as once, so that it is sent again after a lost answer. */
  readonly isRepeatable: boolean;
}

/** Tries of one request, the first included. Few: core comes again by itself, with pauses that grow. */
const MOST_TRIES = 6;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;

/** Sends requests, each within its time; repeats what may be repeated, after pauses that grow. */
export class Requests {
  readonly #health: Health;
  readonly #closing = new AbortController();
  readonly #isYoung: (url: string) => boolean;

  /** `isYoung`: the queue was made a moment ago, and parts of the service may not know it yet. */
  constructor(health: Health, isYoung: (url: string) => boolean) {
    this.#health = health;
    this.#isYoung = isYoung;
  }

  /** Ends all requests under way. */
  close(): void {
    this.#closing.abort();
  }

  /** Throws errors of ours. */
  async ask<T>(call: Call, request: Request<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.once(call, request);
      } catch (native) {
        if (!(await this.mayRepeat(native, tries, call, request)))
          throw this.#closing.signal.aborted
            ? closedError(call.operation)
            : fromNative(native, call.operation, request.action);
      }
    }
  }

  /** One try. Throws what the client threw. */
  async once<T>(call: Call, { verb, wire, send }: Request<T>): Promise<T> {
    if (this.#closing.signal.aborted) throw closedError(call.operation);
    if (performance.now() >= call.deadline) throw timedOut(call.operation);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timerMs(call.deadline));
    const close = (): void => late.abort();
    this.#closing.signal.addEventListener('abort', close, { once: true });
    try {
      const answer = await send(late.signal);
      this.#health.heard(verb, null);
      return answer;
    } catch (native) {
      if (late.signal.aborted) wire.distrust();
      this.#tell(call, verb, native);
      throw native;
    } finally {
      clearTimeout(timer);
      this.#closing.signal.removeEventListener('abort', close);
    }
  }

  /** Waits the pause before the next try. False: there is none. */
  async mayRepeat(
    native: unknown,
    tries: number,
    call: Call,
    request: Pick<Request<unknown>, 'isRepeatable' | 'url'>,
  ): Promise<boolean> {
    if (isSuretyError(native) || this.#closing.signal.aborted || tries >= MOST_TRIES) return false;
    const { acted, passing } = meaningOf(native);
    const isYoung =
      nameOf(native) === 'QueueDoesNotExist' && request.url !== null && this.#isYoung(request.url);
    const isLost = acted === 'unknown' && request.isRepeatable;
    if (!isLost && !(acted === 'no' && (passing || isYoung))) return false;
    return this.pause(tries, call);
  }

  /** False: there is no time for it. */
  async pause(tries: number, call: Call): Promise<boolean> {
    const longest = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
    const pauseMs = longest * (0.5 + Math.random() / 2);
    if (performance.now() + pauseMs >= call.deadline) return false;
    await sleep(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    return !this.#closing.signal.aborted;
  }

  #tell({ operation }: Call, verb: Verb, native: unknown): void {
    if (this.#closing.signal.aborted) return;
    const error: SuretyError = fromNative(native, operation, verb);
    const isTrouble =
      error.code.startsWith('BACKEND_') || error.code === 'PERMISSION_DENIED' || error.code === 'INTERNAL';
    this.#health.heard(verb, isTrouble ? error : null);
  }
}
