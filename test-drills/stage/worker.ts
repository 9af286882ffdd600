import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AttemptEvent } from '@surety/core';
import { besides } from './besides.ts';
import { eventually } from './waiting.ts';
import type { FromWorker, Point, ToWorker, WorkerEvent, WorkerTask } from './worker-messages.ts';

/** How a worker process ended. */
interface WorkerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A worker of core in a process of its own, which can be held, frozen and killed. */
export interface WorkerProcess {
  readonly name: string;
  readonly pid: number;
  /** Everything told so far, oldest first. */
  readonly events: readonly WorkerEvent[];
  /** Data of the events of one name, oldest first. */
  told<Data>(name: string): readonly Data[];
  /** Attempts that have ended, as core reported them. */
  readonly attempts: readonly AttemptEvent[];
  /** Waits until a point was passed so often (1: at all); then the worker is held there, if it was told to hold. */
  reached(point: Point, withinMs?: number, times?: number): Promise<WorkerEvent>;
  /** Lets one held pass of the point go on. */
  go(point: Point): void;
  /** SIGKILL; resolves when the process is gone. All that it told before has been read by then. */
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT: it stays and its connections stay, and it does nothing meanwhile. */
  freeze(): void;
  thaw(): void;
  /** In good order; resolves when the process is gone, killed if it does not end by itself soon after the drain. */
  stop(drainMs?: number): Promise<void>;
  setClock(skewMs: number): void;
  readonly running: boolean;
  /** Resolves when the process has ended, however. */
  readonly exited: Promise<WorkerExit>;
  /** Lines of its log that are JSON. What it wrote in the last second before a SIGKILL may be missing. */
  log(): readonly Readonly<Record<string, unknown>>[];
}

const PROGRAM = besides(import.meta.url, 'worker-process');
/** Generous: two cores may be starting several processes at once. */
const START_MS = 60_000;
const REACH_MS = 60_000;
const DRAIN_MS = 10_000;
/** What a stop may take beside its drain: grace, last settlements, close. */
const STOP_SLACK_MS = 20_000;

/** Starts a process and waits until its worker is at work. Throws when it does not come to that. */
export async function startWorker(
  task: WorkerTask,
  surroundings: { readonly folder: string; readonly signal: AbortSignal; readonly memoryMb: number | null },
): Promise<WorkerProcess> {
  const { folder, signal, memoryMb } = surroundings;
  const logFile = join(folder, `${task.name}.log`);
  const log = openSync(logFile, 'a');
  const flags = process.execArgv.filter((flag) => !flag.startsWith('--inspect'));
  const child = fork(PROGRAM, [], {
    execArgv: memoryMb === null ? flags : [...flags, `--max-old-space-size=${memoryMb}`],
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const worker = new ForkedWorker(task.name, child, logFile, signal);
  child.send({ kind: 'start', task } satisfies ToWorker, () => undefined);
  try {
    await eventually(signal, () => worker.isStarted(), { what: `${task.name} at work`, withinMs: START_MS });
  } catch (error) {
    await worker.kill();
    throw error;
  }
  return worker;
}

class ForkedWorker implements WorkerProcess {
  readonly name: string;
  readonly events: WorkerEvent[] = [];
  readonly exited: Promise<WorkerExit>;
  readonly #child: ChildProcess;
  readonly #logFile: string;
  readonly #signal: AbortSignal;
  readonly #read: Promise<unknown>;
  #started = false;
  #failure: string | null = null;
  #exit: WorkerExit | null = null;

  constructor(name: string, child: ChildProcess, logFile: string, signal: AbortSignal) {
    this.name = name;
    this.#child = child;
    this.#logFile = logFile;
    this.#signal = signal;
    // 'close' comes after the line was read to its end, 'exit' may come before.
    this.#read = new Promise((resolve) => child.on('close', resolve));
    this.exited = new Promise((resolve) => {
      child.on('exit', (code, endedBy) => {
        this.#exit = { code, signal: endedBy };
        resolve(this.#exit);
      });
      child.on('error', (error) => {
        this.#failure ??= error.message;
        if (child.pid === undefined) resolve({ code: null, signal: null });
      });
    });
    child.on('message', (message: FromWorker) => this.#hear(message));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return this.#exit === null && this.#child.pid !== undefined;
  }

  get attempts(): readonly AttemptEvent[] {
    return this.told<AttemptEvent>('attempt');
  }

  told<Data>(name: string): readonly Data[] {
    return this.events.filter((event) => event.name === name).map(({ data }) => data as Data);
  }

  isStarted(): boolean {
    if (this.#failure !== null) throw new Error(`${this.name} did not start: ${this.#failure}`);
    return this.#started;
  }

  async reached(point: Point, withinMs: number = REACH_MS, times = 1): Promise<WorkerEvent> {
    const find = (): WorkerEvent | undefined =>
      this.events.filter(({ name }) => name === `at:${point}`)[times - 1];
    return eventually(this.#signal, find, { what: `${this.name} at ${point}`, withinMs, everyMs: 2 });
  }

  go(point: Point): void {
    this.#send({ kind: 'go', point });
  }

  setClock(skewMs: number): void {
    this.#send({ kind: 'clock', skewMs });
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone();
  }

  async stop(drainMs: number = DRAIN_MS): Promise<void> {
    if (!this.running) return;
    const late = setTimeout(() => this.#child.kill('SIGKILL'), drainMs + STOP_SLACK_MS);
    this.#send({ kind: 'stop', drainMs });
    await this.#gone();
    clearTimeout(late);
  }

  log(): readonly Readonly<Record<string, unknown>>[] {
    return readFileSync(this.#logFile, 'utf8').split('\n').flatMap(parsed);
  }

  async #gone(): Promise<void> {
    await this.exited;
    if (this.#child.pid !== undefined) await this.#read;
  }

  #send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #hear(message: FromWorker): void {
    if (message.kind === 'event') this.events.push(message.event);
    if (message.kind === 'started') this.#started = true;
    if (message.kind === 'failed') this.#failure = message.reason;
  }
}

function parsed(line: string): readonly Readonly<Record<string, unknown>>[] {
  if (!line.startsWith('{')) return [];
  try {
    return [JSON.parse(line) as Readonly<Record<string, unknown>>];
  } catch {
    // Cut off by a SIGKILL.
    return [];
  }
}
