import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { FromWorker, ToWorker, WorkerTask } from './worker-messages.ts';

/** A worker in a process of its own. */
export interface WorkerProcess extends AsyncDisposable {
  readonly name: string;
  /** Rejects when the process ends without having been asked to; never resolves. */
  readonly failure: Promise<never>;
  /** SIGKILL: the process gets no chance to hand back or finish anything. Resolves once it is gone. */
  kill(): Promise<void>;
  /** In good order: what runs is finished, what is held goes back. */
  stop(): Promise<void>;
}

/** The program keeps the ending of this module: `.ts` from source, `.js` when built. */
const PROGRAM = new URL(
  `./worker-process${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`,
  import.meta.url,
);
/** A stop drains for 5 s at most; after that the process is ended whatever it does. */
const STOP_MS = 10_000;

/** Starts a process and waits until its worker is at work. Its log, one line an attempt, goes to the file. */
export async function startWorker(task: WorkerTask, logFile: string): Promise<WorkerProcess> {
  const log = openSync(logFile, 'a');
  const child = fork(PROGRAM, [], { stdio: ['ignore', log, log, 'ipc'] });
  closeSync(log);
  const worker = new ForkedWorker(child, task.name, logFile);
  child.send({ kind: 'start', task } satisfies ToWorker);
  await Promise.race([worker.started, worker.failure]);
  return worker;
}

class ForkedWorker implements WorkerProcess {
  readonly name: string;
  readonly started: Promise<void>;
  readonly failure: Promise<never>;
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;
  #endIsExpected = false;

  constructor(child: ChildProcess, name: string, logFile: string) {
    this.name = name;
    this.#child = child;
    this.#gone = new Promise((resolve) => child.on('exit', resolve));
    let reason: string | null = null;
    this.started = new Promise((resolve) => {
      child.on('message', (message: FromWorker) => {
        if (message.kind === 'started') resolve();
        if (message.kind === 'failed') reason = message.reason;
        if (message.kind === 'failed') child.kill('SIGKILL');
      });
    });
    this.failure = new Promise((_, reject) => {
      child.on('error', reject);
      child.on('exit', (code, signal) => {
        if (this.#endIsExpected) return;
        reject(
          new Error(`${name} ended by itself (${reason ?? signal ?? `code ${code}`}). Its log: ${logFile}`),
        );
      });
    });
    // Looked at by whoever waits for something; without anybody it must not end this process.
    this.failure.catch(() => undefined);
  }

  async kill(): Promise<void> {
    this.#endIsExpected = true;
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#endIsExpected = true;
    const late = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    this.#child.send({ kind: 'stop' } satisfies ToWorker);
    await this.#gone;
    clearTimeout(late);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.kill();
  }
}
