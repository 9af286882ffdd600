import type { Emulator, StoredMessage, StoredQueue } from './emulator-store.ts';
import { brokenRule, type ServiceError, type SqsEntry, type SqsRequest } from './service-rules.ts';
import type { SqsFault, SqsFaults } from './sqs-server.ts';

/** What the layer answers; null: the connection breaks instead. */
export interface Reply {
  readonly status: number;
  readonly body: string;
}

/** An answer of the emulator. */
interface Answer {
  Messages?: { readonly MessageId: string; readonly ReceiptHandle: string; readonly Body: string }[];
  Successful?: { readonly Id: string }[];
  Failed?: { Id: string; SenderFault: boolean; Code: string; Message: string }[];
}

interface Handed {
  readonly messageId: string;
  readonly at: number;
}

/** The most handles that are remembered, oldest forgotten first. */
const MOST_HANDLES = 200_000;
const BODY_HEAD = 200;
const HANDLE = /^[0-9a-f-]{36}$/;
const TARGET = 'AmazonSQS.';

/** Between the clients and the emulator: keeps the rules of the service, and misbehaves as told. */
export class FaultLayer {
  readonly #emulator: Emulator;
  readonly #handed = new Map<string, Handed>();
  #faults: Partial<SqsFaults> = {};
  #random: () => number = Math.random;
  readonly log: SqsFault[] = [];
  #requests: Record<string, number> = {};

  constructor(emulator: Emulator) {
    this.#emulator = emulator;
  }

  set(faults: Partial<SqsFaults>): void {
    this.#faults = faults;
    this.#random = seeded(faults.seed ?? 1);
  }

  takeRequestCounts(): Readonly<Record<string, number>> {
    const counts = this.#requests;
    this.#requests = {};
    return counts;
  }

  async handle(headers: Readonly<Record<string, string>>, text: string): Promise<Reply | null> {
    const action = (headers['x-amz-target'] ?? '').replace(TARGET, '');
    this.#requests[action] = (this.#requests[action] ?? 0) + 1;
    const request = JSON.parse(text === '' ? '{}' : text) as SqsRequest;
    const refused = this.#refusal(action);
    if (refused !== null) return refused;
    const queue =
      request.QueueUrl === undefined ? undefined : this.#emulator.store.getQueue(request.QueueUrl);
    queue?.processTimers();
    const rule = request.Entries === undefined ? this.#broken(request) : null;
    if (rule !== null) return errorReply(400, rule);
    const answer = await this.#perform(action, headers, request, queue);
    if (this.#draws(this.#faults.lostAnswer?.[action as keyof SqsFaults['lostAnswer']])) {
      this.#note('lost-answer', action, bodiesIn(request, answer.content));
      return null;
    }
    return { status: answer.status, body: JSON.stringify(answer.content) };
  }

  #refusal(action: string): Reply | null {
    if (this.#draws(this.#faults.throttled)) {
      this.#note('throttled', action, []);
      return errorReply(400, { code: 'RequestThrottled', message: 'Rate exceeded.' });
    }
    if (!this.#draws(this.#faults.unavailable)) return null;
    this.#note('unavailable', action, []);
    return errorReply(503, { code: 'ServiceUnavailable', message: 'The service is not available.' });
  }

  async #perform(
    action: string,
    headers: Readonly<Record<string, string>>,
    request: SqsRequest,
    queue: StoredQueue | undefined,
  ): Promise<{ status: number; content: Answer }> {
    if (request.Entries !== undefined) return this.#performBatch(action, headers, request, queue);
    if (action === 'ReceiveMessage') return this.#receive(headers, request, queue);
    const stale = action === 'DeleteMessage' ? this.#deleteStale(queue, request.ReceiptHandle ?? '') : null;
    if (stale !== null) return { status: 400, content: asAnswer(stale) };
    const deleted = action === 'DeleteMessage' ? messageHeld(queue, request.ReceiptHandle) : undefined;
    const result = await this.#forward(headers, request);
    if (deleted !== undefined && queue !== undefined) this.#mayComeBack(queue, deleted);
    return result;
  }

  async #performBatch(
    action: string,
    headers: Readonly<Record<string, string>>,
    request: SqsRequest,
    queue: StoredQueue | undefined,
  ): Promise<{ status: number; content: Answer }> {
    const failed: NonNullable<Answer['Failed']> = [];
    const good: SqsEntry[] = [];
    const deleted: StoredMessage[] = [];
    for (const entry of request.Entries ?? []) {
      const rule =
        this.#broken(entry) ??
        (action === 'DeleteMessageBatch' ? this.#deleteStale(queue, entry.ReceiptHandle ?? '') : null);
      if (rule !== null)
        failed.push({ Id: entry.Id, SenderFault: true, Code: rule.code, Message: rule.message });
      else if (this.#draws(this.#faults.failedEntry)) {
        this.#note('failed-entry', action, entry.MessageBody === undefined ? [] : [entry.MessageBody]);
        failed.push({ Id: entry.Id, SenderFault: false, Code: 'ServiceUnavailable', Message: 'Try again.' });
      } else {
        good.push(entry);
        const held = action === 'DeleteMessageBatch' ? messageHeld(queue, entry.ReceiptHandle) : undefined;
        if (held !== undefined) deleted.push(held);
      }
    }
    if (good.length === 0 && failed.length > 0)
      return { status: 200, content: { Successful: [], Failed: failed } };
    const result = await this.#forward(headers, { ...request, Entries: good });
    if (result.status === 200) {
      result.content.Failed = [...(result.content.Failed ?? []), ...failed];
      if (queue !== undefined) for (const message of deleted) this.#mayComeBack(queue, message);
    }
    return result;
  }

  async #receive(
    headers: Readonly<Record<string, string>>,
    request: SqsRequest,
    queue: StoredQueue | undefined,
  ): Promise<{ status: number; content: Answer }> {
    const waits = Number(request.WaitTimeSeconds ?? 0) > 0;
    if (!waits && this.#draws(this.#faults.emptyReceive)) {
      this.#note('empty-receive', 'ReceiveMessage', []);
      return { status: 200, content: {} };
    }
    const asked = Number(request.MaxNumberOfMessages ?? 1);
    const few = this.#draws(this.#faults.shortReceive)
      ? Math.max(1, Math.ceil(asked * this.#random()))
      : asked;
    if (this.#faults.shuffled === true && queue !== undefined) this.#shuffle(queue, few);
    const result = await this.#forward(headers, { ...request, MaxNumberOfMessages: few });
    for (const { MessageId, ReceiptHandle, Body } of result.content.Messages ?? []) {
      this.#remember(ReceiptHandle, MessageId);
      if (queue === undefined || !this.#draws(this.#faults.duplicateReceive)) continue;
      this.#note('duplicate', 'ReceiveMessage', [Body]);
      queue.enqueue(this.#emulator.newMessage(Body));
    }
    return result;
  }

  async #forward(
    headers: Readonly<Record<string, string>>,
    request: SqsRequest,
  ): Promise<{ status: number; content: Answer }> {
    const { status, content } = await this.#emulator.ask(headers, request);
    return { status, content: (content ?? {}) as Answer };
  }

  #broken(request: SqsRequest): ServiceError | null {
    return brokenRule(request, (handle) => {
      const handed = this.#handed.get(handle);
      return handed === undefined ? null : Date.now() - handed.at;
    });
  }

  /** The service may delete by a handle that is no longer the newest one; so this always does. */
  #deleteStale(queue: StoredQueue | undefined, handle: string): ServiceError | null {
    if (queue === undefined || queue.inflightMessages.has(handle)) return null;
    const messageId = this.#handed.get(handle)?.messageId;
    if (messageId === undefined) {
      if (HANDLE.test(handle)) return null;
      return { code: 'ReceiptHandleIsInvalid', message: 'The input receipt handle is invalid.' };
    }
    const holder = [...queue.inflightMessages.values()].find(
      ({ message }) => message.messageId === messageId,
    );
    const waiting = queue.messages.find((message) => message.messageId === messageId);
    if (holder !== undefined) queue.deleteMessage(holder.receiptHandle);
    else if (waiting !== undefined) {
      queue.messages = queue.messages.filter((message) => message !== waiting);
      queue.persistence?.deleteMessage(messageId);
    } else return null;
    this.#note('stale-delete', 'DeleteMessage', [(holder?.message ?? waiting)?.body ?? '']);
    return null;
  }

  #mayComeBack(queue: StoredQueue, message: StoredMessage): void {
    if (!this.#draws(this.#faults.deletedComesBack)) return;
    this.#note('came-back', 'DeleteMessage', [message.body]);
    queue.enqueue(this.#emulator.newMessage(message.body));
  }

  /** Brings any messages to the front. */
  #shuffle({ messages }: StoredQueue, count: number): void {
    for (let place = 0; place < Math.min(count, messages.length); place++) {
      const other = place + Math.floor(this.#random() * (messages.length - place));
      const [here, there] = [messages[place], messages[other]];
      if (here !== undefined && there !== undefined) [messages[place], messages[other]] = [there, here];
    }
  }

  #remember(handle: string, messageId: string): void {
    this.#handed.set(handle, { messageId, at: Date.now() });
    if (this.#handed.size <= MOST_HANDLES) return;
    for (const oldest of this.#handed.keys()) {
      this.#handed.delete(oldest);
      break;
    }
  }

  #draws(chance: number | undefined): boolean {
    return chance !== undefined && chance > 0 && this.#random() < chance;
  }

  #note(kind: SqsFault['kind'], action: string, bodies: readonly string[]): void {
    this.log.push({ kind, action, bodies: bodies.map((body) => body.slice(0, BODY_HEAD)) });
  }
}

function messageHeld(queue: StoredQueue | undefined, handle = ''): StoredMessage | undefined {
  return queue?.inflightMessages.get(handle)?.message;
}

function bodiesIn(request: SqsRequest, answer: Answer): readonly string[] {
  const sent = [request, ...(request.Entries ?? [])].flatMap(({ MessageBody }) => MessageBody ?? []);
  return [...sent, ...(answer.Messages ?? []).map(({ Body }) => Body)];
}

function errorReply(status: number, { code, message }: ServiceError): Reply {
  return { status, body: JSON.stringify({ __type: `com.amazonaws.sqs#${code}`, message }) };
}

function asAnswer({ code, message }: ServiceError): Answer {
  return { __type: `com.amazonaws.sqs#${code}`, message } as Answer;
}

/** Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
