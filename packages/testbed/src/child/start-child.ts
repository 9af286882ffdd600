import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { withDeadline } from '../machine/deadline.ts';
import { startWatchdog } from '../machine/watchdog.ts';
import type { FromChild } from './messages.ts';

export interface ChildOptions {
  readonly args?: readonly string[];
  /** Conditions of package resolution; `surety-source` runs the workspace's TypeScript without a build. */
  readonly conditions?: readonly string[];
  /** Over the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** How long the script may take until it calls `serveChild`; 20 s when left out. */
  readonly readyWithinMs?: number;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process to be killed in a test. */
export interface Child {
  readonly pid: number;
  /** Resolves when the process has ended; never rejects. */
  readonly exited: Promise<ChildExit>;
  /** The last 4,000 characters that it wrote to stderr and to stdout. */
  readonly stderrTail: string;
  readonly stdoutTail: string;
  /**
   * Calls a method that the script gave to `serveChild`. Rejects with the error that the method threw (message, code),
   * when the process ends first, and after `timeoutMs` (10 s).
   */
  call<Result = unknown>(method: string, params?: unknown, timeoutMs?: number): Promise<Result>;
  /** SIGKILL; resolves when the process has ended. */
  kill9(): Promise<ChildExit>;
  /** SIGSTOP: it stays and its connections stay, but it does nothing. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** Closes the channel, on which the script ends by itself; resolves when it has ended, killed after 5 s if need be. */
  end(): Promise<ChildExit>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface PendingCall {
  readonly method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Starts a TypeScript file as a Node process of its own and resolves once it has called `serveChild`. */
export async function startChild(script: URL | string, options: ChildOptions = {}): Promise<Child> {
  const conditions = options.conditions ?? ['surety-source'];
  const child = fork(script, options.args ?? [], {
    // In place of what a test runner passes to its own workers.
    execArgv: conditions.map((condition) => `--conditions=${condition}`),
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const pending = new Map<number, PendingCall>();
  let calls = 0;
  const stderr = keepTail(child.stderr);
  const stdout = keepTail(child.stdout);
  const drained = Promise.all([stderr.closed, stdout.closed]);
  const withStderr = (message: string): string => `${message}\n${stderr.text() || '(nothing on stderr)'}`;

  const exited = new Promise<ChildExit>((resolve) => {
    child.on('exit', (code, endedBy) => {
      // The last output belongs into the errors; but a grandchild that inherited the streams may hold them for ever. The
      // child's own 'close' does not come when it was this side that closed the channel.
      void Promise.race([drained, sleep(500)]).then(() => resolve({ code, signal: endedBy }));
    });
    child.on('error', () => {
      if (child.pid === undefined) resolve({ code: null, signal: null });
    });
  });
  // A child ends by itself when this process does, unless it is paused or too busy to notice.
  const watchdog = startWatchdog('kill -KILL "$1"', [String(child.pid)]);
  void exited.then((exit) => {
    watchdog.dismiss();
    for (const call of pending.values()) {
      call.reject(new Error(withStderr(`child ended (${describe(exit)}) before it answered ${call.method}`)));
    }
    pending.clear();
  });

  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (message: FromChild) => {
      if (message.kind === 'ready') return resolve();
      const call = pending.get(message.id);
      pending.delete(message.id);
      if (message.kind === 'returned') call?.resolve(message.result);
      else call?.reject(Object.assign(new Error(message.error.message), message.error));
    });
    void exited.then((exit) => {
      reject(new Error(withStderr(`child ${String(script)} ended (${describe(exit)}) before it was ready`)));
    });
  });
  try {
    await withDeadline(ready, options.readyWithinMs ?? 20_000, () =>
      withStderr(`child ${String(script)} did not call serveChild`),
    );
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  const pid = child.pid as number;

  const handle: Child = {
    pid,
    exited,
    get stderrTail() {
      return stderr.text();
    },
    get stdoutTail() {
      return stdout.text();
    },
    async call<Result>(method: string, params: unknown = null, timeoutMs = 10_000): Promise<Result> {
      if (!child.connected) throw new Error(withStderr(`child has ended, ${method} cannot be called`));
      const id = ++calls;
      const answer = new Promise<unknown>((resolve, reject) => {
        pending.set(id, { method, resolve, reject });
        child.send({ id, method, params }, () => undefined);
      });
      try {
        return (await withDeadline(answer, timeoutMs, () =>
          withStderr(`child did not answer ${method}`),
        )) as Result;
      } finally {
        pending.delete(id);
      }
    },
    kill9() {
      child.kill('SIGKILL');
      return exited;
    },
    pause() {
      child.kill('SIGSTOP');
    },
    resume() {
      child.kill('SIGCONT');
    },
    async end() {
      if (child.connected) child.disconnect();
      child.kill('SIGCONT');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      try {
        return await exited;
      } finally {
        clearTimeout(timer);
      }
    },
    async [Symbol.asyncDispose]() {
      await handle.kill9();
    },
  };
  return handle;
}

function describe(exit: ChildExit): string {
  return exit.signal === null ? `exit code ${exit.code}` : exit.signal;
}

interface Tail {
  text(): string;
  readonly closed: Promise<void>;
}

function keepTail(stream: NodeJS.ReadableStream | null): Tail {
  let tail = '';
  stream?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-4_000);
  });
  const closed = new Promise<void>((resolve) => stream?.once('close', resolve));
  return { text: () => tail, closed };
}
