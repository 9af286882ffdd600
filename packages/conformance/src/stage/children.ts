import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { EnqueueOutcome, NewJob, RenewOutcome, SettleOutcome } from '@surety/core/contract';
import type { HarnessChild } from '../harness.ts';
import { within } from './waiting.ts';

/** How a child process is started. */
export interface ChildOptions {
  /** Shifts the wall clock of the child, as a host with a wrong clock has it. */
  readonly clockSkewMs?: number;
  /** False: the child is started, its backend not opened: a worker opens it by itself. */
  readonly open?: boolean;
}

/** Facts of a lease that crossed from a child. The lease itself stays there. */
interface HeldLease {
  readonly id: string;
  readonly attempt: number;
  readonly deliveries: number;
}

/** What a child tells while a loop runs. */
export interface ChildEvent {
  readonly event: 'accepted' | 'claimed' | 'settled' | 'started' | 'ended' | 'error';
  readonly ids: readonly string[];
}

/** Commands that a child serves, with arguments and answers. */
export interface ChildCommands {
  open: [{ readonly timeoutMs: number }, null];
  close: [{ readonly graceMs: number }, null];
  enqueue: [{ readonly jobs: readonly NewJob[] }, readonly EnqueueOutcome[]];
  /** Enqueues batches until the end of the process, and tells each accepted id. */
  enqueueLoop: [{ readonly template: NewJob; readonly batch: number }, null];
  /** Claims and keeps the leases. */
  claim: [{ readonly queue: string; readonly max: number; readonly leaseMs: number }, readonly HeldLease[]];
  /** Completes leases that the child keeps. */
  settle: [{ readonly ids: readonly string[] }, readonly SettleOutcome[]];
  renew: [{ readonly ids: readonly string[]; readonly leaseMs: number }, readonly RenewOutcome[]];
  /** Claims and completes until the end of the process. */
  drainLoop: [{ readonly queue: string; readonly max: number; readonly leaseMs: number }, null];
  /** Runs core's worker; `behaviour` says what its handler does. */
  work: [WorkOrder, null];
  stopWork: [{ readonly drainMs: number }, null];
}

/** What the worker of a child does. `types` it serves; types named in `exitOn` end the process at their start. */
interface WorkOrder {
  readonly queue: string;
  readonly types: readonly string[];
  readonly exitOn: readonly string[];
  readonly handlerMs: number;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly maxAttempts: number;
}

/** A child process with a backend of its own on the same store. */
export interface Child {
  call<K extends keyof ChildCommands>(command: K, args: ChildCommands[K][0]): Promise<ChildCommands[K][1]>;
  /** Everything told so far, oldest first. */
  readonly events: readonly ChildEvent[];
  ids(event: ChildEvent['event']): readonly string[];
  /** SIGKILL; resolves when the process is gone. All that it told before has been read by then. */
  kill(): Promise<void>;
  stopProcess(): void;
  continueProcess(): void;
  /** Closes the line to the child; resolves with its exit code once it ended by itself. */
  leave(withinMs: number): Promise<number | null>;
  readonly running: () => boolean;
}

/** The program keeps the ending of this module: `.ts` from source, `.js` when built. */
const PROGRAM = new URL(`../child-main${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/** Generous: two cores may be starting several children at once. */
const COMMAND_LIMIT_MS = 45_000;

type Answer = { readonly answer: number; readonly result?: unknown; readonly error?: string };

export async function startChild(harness: HarnessChild, options: ChildOptions = {}): Promise<Child> {
  const start = { module: harness.module, args: harness.args(), clockSkewMs: options.clockSkewMs ?? 0 };
  const child = fork(PROGRAM, [], {
    execArgv: process.execArgv.filter((flag) => !flag.startsWith('--inspect')),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  child.send(start, () => {});
  return speakWith(child);
}

function speakWith(child: ChildProcess): Child {
  const events: ChildEvent[] = [];
  const waiting = new Map<number, (answer: Answer) => void>();
  let noise = '';
  let gone = false;
  let asked = 0;
  let left = false;
  // 'close' comes after the pipes and the line were read to their end, 'exit' may come before; but once this side has
  // hung up there is no 'close' any more.
  const read = once(child, 'close');
  const exited = once(child, 'exit').then(() => (left ? undefined : read));
  const closed = Promise.race([read, exited]).then(() => {
    gone = true;
    for (const [id, settle] of waiting) settle({ answer: id, error: `The child ended. ${noise}` });
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    noise = (noise + chunk.toString()).slice(-2000);
  });
  child.on('error', (error) => {
    noise += error.message;
  });
  child.on('message', (message: ChildEvent | Answer) => {
    if ('event' in message) return void events.push(message);
    waiting.get(message.answer)?.(message);
    waiting.delete(message.answer);
  });

  async function call(command: string, args: unknown): Promise<never> {
    if (gone) throw new Error(`The child has ended. ${noise}`);
    const id = ++asked;
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    child.send({ id, command, args }, () => {});
    const { value } = await within(`command ${command} of a child`, COMMAND_LIMIT_MS, answered);
    if (value.error !== undefined) throw new Error(`${command} in a child: ${value.error}`);
    return value.result as never;
  }

  return {
    call,
    events,
    ids: (event) => events.filter((told) => told.event === event).flatMap((told) => told.ids),
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
    stopProcess: () => void child.kill('SIGSTOP'),
    continueProcess: () => void child.kill('SIGCONT'),
    async leave(withinMs) {
      left = true;
      if (child.connected) child.disconnect();
      await within('the end of a child that has nothing left to do', withinMs, closed);
      return child.exitCode;
    },
    running: () => !gone,
  };
}
