import { type Call, closedError } from '../call.ts';
import { MAX_ENTRIES } from '../service-limits.ts';
import type { Taken } from './held.ts';

/** What a lane asks of its session. */
export interface LaneWork {
  /** One request for up to `max` jobs. Throws errors of ours. */
  readonly receive: (max: number, hiddenS: number, waitS: number, call: Call) => Promise<readonly Taken[]>;
  /** Back into the queue, unharmed. Never rejects. */
  readonly giveBack: (taken: readonly Taken[]) => Promise<void>;
  /** Hides what was taken anew, for so many seconds; the answer is what of it is still ours. */
  readonly hide: (taken: readonly Taken[], hiddenS: number, call: Call) => Promise<readonly Taken[]>;
}

/** Answer of a wait. */
export interface Waited {
  readonly taken: readonly Taken[];
  readonly paused: boolean;
}

interface Waiter {
  readonly max: number;
  readonly hiddenS: number;
  readonly call: Call;
  readonly end: (taken: Promise<readonly Taken[]>, paused: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/** Requests at once for one queue: what a worker takes at once whose jobs are over in a moment. */
const MOST_REQUESTS = 50;
/** What came when nobody waited any more is kept this long for the next claim, then given back. */
const LINGER_MS = 250;
/** Of what waited for its claim longer than this the time is set anew. */
const STALE_MS = 500;
/** A request may take this much longer than its wait. */
const ANSWER_MS = 10_000;
const NOTHING: readonly Taken[] = Object.freeze([]);

/**
 * The way from one queue into this process. A wait is one request to the service, shared by all claims, and it goes on when its claim ends: a request that is
 * given up could be handed a job all the same, which then nobody has until its lease is over. While the queue is deep, requests run side by side: twice as
 * many as all came back full, so that there are never more of them in vain than were worth it before.
 */
export class Lane {
  readonly #work: LaneWork;
  readonly #pollS: number;
  #waiters: Waiter[] = [];
  #buffer: Taken[] = [];
  readonly #polls = new Set<Promise<void>>();
  #asking = 0;
  #width = 1;
  #linger: NodeJS.Timeout | null = null;
  #isOpen = true;

  constructor(work: LaneWork, pollS: number) {
    this.#work = work;
    this.#pollS = pollS;
  }

  /** The last answers were full: there is more, and a request that does not wait finds it. */
  get isDeep(): boolean {
    return this.#width > 1 || this.#buffer.length > 0;
  }

  /** What is there now. */
  async take(max: number, hiddenS: number, call: Call): Promise<readonly Taken[]> {
    if (!this.#isOpen) throw closedError('claim');
    if (this.#buffer.length > 0) {
      const kept = await this.#ready(this.#buffer.splice(0, max), hiddenS, call);
      if (kept.length > 0) return kept;
    }
    const requests = Math.min(this.#width, Math.max(1, Math.floor(max / MAX_ENTRIES)));
    const each = Math.min(max, MAX_ENTRIES);
    const taken = await this.#ask(requests, each, hiddenS, call);
    if (taken.length < requests * each) this.#width = Math.max(1, Math.ceil(taken.length / MAX_ENTRIES));
    else if (each === MAX_ENTRIES) this.#width = Math.min(MOST_REQUESTS, Math.max(this.#width, 2 * requests));
    return taken;
  }

  /** Waits for a first job. Resolves empty when the time is over or the signal aborts. */
  wait(
    max: number,
    hiddenS: number,
    waitMs: number,
    signal: AbortSignal | null,
    call: Call,
  ): Promise<Waited> {
    if (!this.#isOpen) return Promise.reject(closedError('claim'));
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', empty);
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
      };
      const waiter: Waiter = {
        max,
        hiddenS,
        call: { operation: call.operation, deadline: call.deadline + waitMs },
        end: (taken, paused) => {
          leave();
          taken.then((ours) => resolve({ taken: ours, paused }), reject);
        },
        fail: (error) => {
          leave();
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      };
      const empty = (): void => waiter.end(Promise.resolve(NOTHING), false);
      const timer = setTimeout(empty, Math.max(0, Math.min(waitMs, 2 ** 31 - 1)));
      signal?.addEventListener('abort', empty, { once: true });
      this.#waiters.push(waiter);
      this.#serve();
    });
  }

  /** Ends waiting claims, and gives back what they might have got. */
  pause(): void {
    for (const waiter of this.#waiters) waiter.end(Promise.resolve(NOTHING), true);
    void this.#returnAll();
  }

  /** Waits until nothing can come any more, and everything that did is back. */
  async close(): Promise<void> {
    this.#isOpen = false;
    for (const waiter of this.#waiters) waiter.fail(closedError('claim'));
    await Promise.allSettled(this.#polls);
    await this.#returnAll();
  }

  async #ask(requests: number, each: number, hiddenS: number, call: Call): Promise<Taken[]> {
    const answers = await Promise.allSettled(
      Array.from({ length: requests }, () => this.#work.receive(each, hiddenS, 0, call)),
    );
    const taken = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    // One that failed loses nothing of what the others brought.
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (taken.length === 0 && failed !== undefined) throw failed.reason;
    return taken;
  }

  /** Hands out what is there; asks for more where somebody still waits. */
  #serve(): void {
    for (let waiter = this.#waiters[0]; waiter !== undefined; waiter = this.#waiters[0]) {
      if (this.#buffer.length === 0) break;
      // Those that do not wait answer in a moment: one claim is better than several.
      if (this.#asking > 0 && this.#buffer.length < waiter.max) return;
      const taken = this.#buffer.splice(0, waiter.max);
      waiter.end(this.#ready(taken, waiter.hiddenS, waiter.call), false);
    }
    if (this.#buffer.length > 0) return this.#lingerOn();
    const [first] = this.#waiters;
    if (first === undefined || !this.#isOpen) return;
    const wanted = this.#waiters.reduce((sum, { max }) => sum + max, 0);
    const requests = Math.max(1, Math.min(this.#width, Math.floor(wanted / MAX_ENTRIES)));
    while (this.#polls.size < requests) this.#poll(first, this.#polls.size === 0 ? this.#pollS : 0);
  }

  #poll({ max, hiddenS }: Waiter, waitS: number): void {
    const asked = Math.min(max, MAX_ENTRIES);
    if (waitS === 0) this.#asking += 1;
    const call: Call = { operation: 'claim', deadline: performance.now() + waitS * 1000 + ANSWER_MS };
    const poll = this.#work
      .receive(asked, hiddenS, waitS, call)
      .then(
        (taken) => {
          this.#buffer.push(...taken);
          if (taken.length === 0) this.#width = Math.ceil(this.#width / 2);
          else if (taken.length < asked) this.#width = Math.max(1, this.#width - 1);
          else if (asked === MAX_ENTRIES) this.#width = Math.min(MOST_REQUESTS, this.#width + 1);
          return null;
        },
        (error: unknown) => ({ error }),
      )
      .then((failed) => {
        this.#polls.delete(poll);
        if (waitS === 0) this.#asking -= 1;
        if (failed !== null && this.#polls.size === 0 && this.#buffer.length === 0) {
          for (const waiter of this.#waiters) waiter.fail(failed.error);
        }
        this.#serve();
      });
    this.#polls.add(poll);
  }

  /** What can still be leased for so long, as of now. */
  async #ready(taken: readonly Taken[], hiddenS: number, call: Call): Promise<readonly Taken[]> {
    const now = performance.now();
    const isFresh = (each: Taken): boolean =>
      each.hiddenS === hiddenS && now - each.askedAt < STALE_MS + this.#pollS * 1000;
    const stale = taken.filter((each) => !isFresh(each));
    if (stale.length === 0) return taken;
    return [...taken.filter(isFresh), ...(await this.#work.hide(stale, hiddenS, call))];
  }

  #lingerOn(): void {
    this.#linger ??= setTimeout(() => {
      this.#linger = null;
      if (this.#waiters.length > 0) return this.#serve();
      void this.#returnAll();
    }, LINGER_MS);
  }

  #returnAll(): Promise<void> {
    if (this.#linger !== null) clearTimeout(this.#linger);
    this.#linger = null;
    return this.#work.giveBack(this.#buffer.splice(0));
  }
}
