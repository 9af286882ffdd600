import { isSuretyError, type SuretyError } from '@surety/core/errors';
import { type Call, failure, LATE, timedOut, within } from '../call.ts';
import { fromNative, meaningOf } from '../native-errors.ts';
import { MAX_ENTRIES } from '../service-limits.ts';
import type { WireClient } from './client.ts';
import type { Requests, Verb } from './requests.ts';

/** How one entry of a batch ended. `refused`: certainly not done; `native` is the service's word for it. */
export type EntryResult =
  | { readonly status: 'done' }
  | { readonly status: 'refused'; readonly error: SuretyError; readonly native: string }
  | { readonly status: 'unknown'; readonly error: SuretyError };

/** What the service says of a batch, by the ids of the entries. */
export interface BatchAnswer {
  readonly Successful?: readonly { readonly Id?: string | undefined }[] | undefined;
  readonly Failed?:
    | readonly {
        readonly Id?: string | undefined;
        readonly Code?: string | undefined;
        readonly SenderFault?: boolean | undefined;
      }[]
    | undefined;
}

/** A kind of batch. */
export interface BatchKind<E> {
  readonly action: string;
  readonly verb: Verb;
  readonly wire: WireClient;
  readonly isRepeatable: boolean;
  readonly maxBytes: number;
  readonly bytesOf: (entry: E) => number;
  readonly send: (
    url: string,
    entries: readonly (E & { readonly Id: string })[],
    signal: AbortSignal,
  ) => Promise<BatchAnswer>;
}

interface Item<E> {
  readonly entry: E;
  readonly bytes: number;
  readonly call: Call;
  readonly end: (result: EntryResult) => void;
}

interface Lane<E> {
  waiting: Item<E>[];
  bytes: number;
  underWay: number;
  /** Unsets the timer of a batch that is not full. */
  unset: (() => void) | null;
}

const DONE: EntryResult = Object.freeze({ status: 'done' });
/** While requests are under way a batch that is not full waits this long for more: a request costs the same for one entry and for ten. */
const LINGER_MS = 5;

/**
 * Joins entries of many callers into requests of ten, by count and by bytes. What is alone goes at the end of the turn; while others are under
 * way it waits a few milliseconds. Entries that the service failed are sent again as long as there is time, the others are not.
 */
export class Batcher<E> {
  readonly #kind: BatchKind<E>;
  readonly #requests: Requests;
  readonly #lanes = new Map<string, Lane<E>>();

  constructor(kind: BatchKind<E>, requests: Requests) {
    this.#kind = kind;
    this.#requests = requests;
  }

  /** Never rejects; ends at the deadline of its call. */
  async add(url: string, entry: E, call: Call): Promise<EntryResult> {
    const { operation, deadline } = call;
    if (performance.now() >= deadline)
      return { status: 'refused', error: timedOut(operation), native: 'Late' };
    const ended = new Promise<EntryResult>((end) => {
      this.#push(url, { entry, bytes: this.#kind.bytesOf(entry), call, end });
    });
    const result = await within(ended, deadline);
    return result === LATE ? { status: 'unknown', error: timedOut(operation, 'unknown') } : result;
  }

  #push(url: string, item: Item<E>): void {
    const lane = this.#lane(url);
    if (lane.waiting.length > 0 && lane.bytes + item.bytes > this.#kind.maxBytes) this.#flush(url, lane);
    lane.waiting.push(item);
    lane.bytes += item.bytes;
    if (lane.waiting.length >= MAX_ENTRIES) return this.#flush(url, lane);
    if (lane.unset !== null) return;
    const flush = (): void => this.#flush(url, lane);
    if (lane.underWay === 0) {
      const turn = setImmediate(flush);
      lane.unset = () => clearImmediate(turn);
    } else {
      const timer = setTimeout(flush, LINGER_MS);
      lane.unset = () => clearTimeout(timer);
    }
  }

  #lane(url: string): Lane<E> {
    const known = this.#lanes.get(url);
    if (known !== undefined) return known;
    const lane: Lane<E> = { waiting: [], bytes: 0, underWay: 0, unset: null };
    this.#lanes.set(url, lane);
    return lane;
  }

  #flush(url: string, lane: Lane<E>): void {
    lane.unset?.();
    lane.unset = null;
    const items = lane.waiting;
    lane.waiting = [];
    lane.bytes = 0;
    if (items.length === 0) return;
    lane.underWay += 1;
    void this.#run(url, items).finally(() => {
      lane.underWay -= 1;
      // Whoever waited for company has waited long enough.
      if (lane.underWay === 0 && lane.waiting.length > 0) this.#flush(url, lane);
      else if (lane.underWay === 0 && lane.waiting.length === 0) this.#lanes.delete(url);
    });
  }

  async #run(url: string, items: readonly Item<E>[]): Promise<void> {
    let open = items;
    for (let tries = 1; open.length > 0; tries++) {
      const call = latest(open);
      const failed: { item: Item<E>; native: string; passing: boolean }[] = [];
      try {
        const answer = await this.#once(url, open, call);
        const done = new Set((answer.Successful ?? []).map(({ Id }) => Id));
        const codes = new Map(
          (answer.Failed ?? []).map(({ Id, Code, SenderFault }) => [Id, { Code, SenderFault }]),
        );
        for (const [index, item] of open.entries()) {
          const id = String(index);
          const fault = codes.get(id);
          if (done.has(id)) item.end(DONE);
          else
            failed.push({ item, native: fault?.Code ?? 'Unanswered', passing: fault?.SenderFault === false });
        }
      } catch (native) {
        if (await this.#requests.mayRepeat(native, tries, call, { ...this.#kind, url })) continue;
        return this.#giveUp(open, native);
      }
      const again = failed.filter(({ passing }) => passing);
      for (const { item, native, passing } of failed) if (!passing) item.end(this.#refused(item, native));
      open = again.map(({ item }) => item);
      if (open.length > 0 && !(await this.#requests.pause(tries, call))) {
        for (const { item, native } of again) item.end(this.#refused(item, native));
        return;
      }
    }
  }

  #once(url: string, items: readonly Item<E>[], call: Call): Promise<BatchAnswer> {
    const { action, verb, wire, isRepeatable, send } = this.#kind;
    const entries = items.map(({ entry }, index) => ({ ...entry, Id: String(index) }));
    return this.#requests.once(call, {
      action,
      verb,
      url,
      wire,
      isRepeatable,
      send: (signal) => send(url, entries, signal),
    });
  }

  #giveUp(items: readonly Item<E>[], native: unknown): void {
    const { acted } = meaningOf(native);
    for (const { end, call } of items) {
      const error = fromNative(native, call.operation, this.#kind.action);
      // Ours: it was not sent.
      if (isSuretyError(native)) end({ status: 'refused', error, native: error.code });
      else if (acted === 'no') end({ status: 'refused', error, native: nativeName(native) });
      else end({ status: 'unknown', error });
    }
  }

  #refused({ call }: Item<E>, native: string): EntryResult {
    const error = fromNative(
      { name: native, $metadata: { httpStatusCode: 400 } },
      call.operation,
      this.#kind.action,
    );
    const told =
      error.code === 'INTERNAL'
        ? failure(
            'BACKEND_UNAVAILABLE',
            `SQS failed an entry of ${this.#kind.action} with ${native}.`,
            call.operation,
          )
        : error;
    return { status: 'refused', error: told, native };
  }
}

/** The batch lives as long as the most patient of its callers; each of them leaves at its own time. */
function latest<E>(items: readonly Item<E>[]): Call {
  const [first, ...others] = items;
  if (first === undefined) throw failure('INTERNAL', 'A batch without entries.', 'batch');
  return others.reduce((late, { call }) => (call.deadline > late.deadline ? call : late), first.call);
}

function nativeName(native: unknown): string {
  const name: unknown = (native as { readonly name?: unknown } | null)?.name;
  return typeof name === 'string' ? name : 'Error';
}
