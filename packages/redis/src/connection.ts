import { SuretyError } from '@surety/core/errors';
import { type Client, type PreparedCall, primariesOf } from './client.ts';
import { type Call, within } from './deadline.ts';
import { createDeadlines, type Pending } from './deadlines.ts';
import { createLink, type Link } from './link.ts';
import { endsConnection, fromNative, isNoScript, mayHaveActed, wasRefusedByClient } from './native-errors.ts';
import type { Script } from './script.ts';

/** What became of a command. `uncertain`: it may have been executed. */
export type Attempt =
  | { readonly ok: true; readonly reply: unknown; readonly sentAt: number }
  | {
      readonly ok: false;
      readonly error: SuretyError;
      readonly native: unknown;
      readonly uncertain: boolean;
    };

/** Arguments of a script. */
export type Values = readonly (string | number)[];

/** One plain command. */
export type Command = readonly [name: string, ...values: Values];

/** Sends one command, or a short row of them, and resolves with the answer. */
type Send = (client: Client) => Promise<unknown>;

/** The one connection over which commands go. All of them are pipelined; none of them blocks the server. */
export interface Connection {
  /** Runs a script, sending its text where the server does not know it yet. */
  attempt(
    script: Script,
    keys: readonly string[],
    values: Values,
    call: Call,
    /** The same, prepared. */
    prepared?: PreparedCall | null,
  ): Promise<Attempt>;
  /** As `attempt`, but throws. */
  ask(script: Script, keys: readonly string[], values: Values, call: Call): Promise<unknown>;
  /** One plain command. Throws. */
  command(call: Call, name: string, ...values: Values): Promise<unknown>;
  /**
   * Runs a script, and behind it the commands that `then` makes of its answer, on the same connection. What the last of them answered,
   * or the error of the first that failed.
   */
  attemptAndThen(
    script: Script,
    keys: readonly string[],
    values: Values,
    then: (reply: unknown) => readonly Command[],
    call: Call,
  ): Promise<{ readonly attempt: Attempt; readonly answer: unknown }>;
  /** Each server behind the connection. Throws. */
  primaries(call: Call): Promise<readonly Client[]>;
  /** Waits for what is under way and ends the connection, within the time. */
  close(graceMs: number): Promise<void>;
}

export interface ConnectionSettings {
  readonly make: () => Client;
  readonly isCluster: boolean;
  readonly connectTimeoutMs: number;
  /** Hears of every answer: `null` when the store answered, the error when it could not be reached. */
  readonly onAnswer: (unreachable: SuretyError | null) => void;
  /** The server did not know a script that it knew: it was started anew, or is another one. */
  readonly onForgotten: () => void;
}

/** How often what was certainly not sent is tried over a new connection. */
const MOST_TRIES = 3;

export function createConnection(settings: ConnectionSettings): Connection {
  const link: Link = createLink(settings.make, settings.connectTimeoutMs);
  const deadlines = createDeadlines();
  let closed = false;
  let running = 0;
  let tellIdle: (() => void) | null = null;
  /** `performance.now()` of the last answer: tells a slow server from a silent connection. */
  let answeredAt = 0;

  /** Sends at once. Resolves by the deadline of the call; never rejects. */
  function sendOn(client: Client, send: Send, call: Call): Promise<Attempt> {
    const sentAt = performance.now();
    return new Promise((resolve) => {
      const pending: Pending = {
        deadline: call.deadline,
        expire() {
          // Answers come in order: any answer since means that the server is slow, and the connection lives.
          if (settings.isCluster || answeredAt < sentAt) link.drop(client);
          resolve(late(call, true));
        },
      };
      const sending = send(client);
      // Behind the sending: what waits for it does not wait for a timer.
      deadlines.add(pending);
      sending.then(
        (reply) => {
          answeredAt = performance.now();
          if (deadlines.remove(pending)) resolve({ ok: true, reply, sentAt });
        },
        (native: unknown) => {
          if (endsConnection(native)) link.drop(client);
          else answeredAt = performance.now();
          if (deadlines.remove(pending)) resolve(failed(native, call, true));
        },
      );
    });
  }

  function failed(native: unknown, call: Call, sent: boolean): Attempt & { readonly ok: false } {
    const error = closed ? closedError(call.operation, native) : asError(native, call);
    return { ok: false, error, native, uncertain: sent && mayHaveActed(native) };
  }

  async function connectAndSend(send: Send, call: Call): Promise<Attempt> {
    let client: Client;
    try {
      client = await link.ready(call.deadline);
    } catch (native) {
      return failed(native, call, false);
    }
    if (performance.now() >= call.deadline) return late(call, false);
    return sendOn(client, send, call);
  }

  async function perform(send: Send, call: Call): Promise<Attempt> {
    if (closed) return { ok: false, error: closedError(call.operation), native: null, uncertain: false };
    running += 1;
    const client = link.usable();
    let result = await (client === null ? connectAndSend(send, call) : sendOn(client, send, call));
    // What the client refused to send, since its connection had ended, goes over a new one.
    for (let tries = 1; tries < MOST_TRIES && canGoAgain(result, call); tries += 1)
      result = await connectAndSend(send, call);
    running -= 1;
    if (running === 0) tellIdle?.();
    if (!closed) settings.onAnswer(result.ok || !isUnreachable(result.error) ? null : result.error);
    return result;
  }

  function canGoAgain(result: Attempt, { deadline }: Call): boolean {
    return !result.ok && !closed && wasRefusedByClient(result.native) && performance.now() < deadline;
  }

  /** Nothing was executed when the server does not know the script: after a restart, a failover or SCRIPT FLUSH. */
  function runOn(
    client: Client,
    script: Script,
    keys: readonly string[],
    values: Values,
    prepared: PreparedCall | null,
  ): Promise<unknown> {
    const running =
      prepared === null
        ? client.evalsha(script.sha, keys.length, keys, values)
        : client.sendCommand(prepared);
    return running.catch((native: unknown) => {
      if (!isNoScript(native)) throw native;
      settings.onForgotten();
      return client.eval(script.text, keys.length, keys, values);
    });
  }

  function attempt(
    script: Script,
    keys: readonly string[],
    values: Values,
    call: Call,
    prepared: PreparedCall | null = null,
  ): Promise<Attempt> {
    let unsent = prepared;
    return perform((client) => {
      const first = unsent;
      unsent = null;
      return runOn(client, script, keys, values, first);
    }, call);
  }

  async function must(result: Promise<Attempt>): Promise<unknown> {
    const known = await result;
    if (!known.ok) throw known.error;
    return known.reply;
  }

  return {
    attempt,
    ask: (script, keys, values, call) => must(attempt(script, keys, values, call)),
    command: (call, name, ...values) => must(perform((client) => client.call(name, ...values), call)),
    async attemptAndThen(script, keys, values, then, call) {
      let answer: unknown = null;
      const result = await perform(async (client) => {
        const reply = await runOn(client, script, keys, values, null);
        const commands = then(reply).map(([name, ...rest]) => client.call(name, ...rest));
        answer = await Promise.all(commands).then(
          (answers) => answers.at(-1),
          (native: unknown) => native,
        );
        return reply;
      }, call);
      return { attempt: result, answer };
    },
    async primaries(call) {
      return (await must(perform(async (client) => primariesOf(client), call))) as readonly Client[];
    },
    async close(graceMs) {
      if (closed) return;
      closed = true;
      if (running > 0) {
        const idle = new Promise<void>((resolve) => {
          tellIdle = resolve;
        });
        await within(idle, performance.now() + graceMs);
      }
      link.close();
    },
  };
}

function late(call: Call, sent: boolean): Attempt {
  return { ok: false, error: timeoutError(call), native: null, uncertain: sent };
}

function isUnreachable({ code }: SuretyError): boolean {
  return code === 'BACKEND_UNAVAILABLE' || code === 'BACKEND_TIMEOUT';
}

function asError(native: unknown, call: Call): SuretyError {
  return native instanceof SuretyError ? native : fromNative(native, call.operation);
}

function timeoutError({ operation }: Call): SuretyError {
  return new SuretyError('BACKEND_TIMEOUT', 'Redis did not answer in time.', { adapter: 'redis', operation });
}

function closedError(operation: string, cause?: unknown): SuretyError {
  return new SuretyError('BACKEND_CLOSED', 'The Redis backend was closed.', {
    adapter: 'redis',
    operation,
    cause,
  });
}
