import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { besides } from '../stage/besides.ts';
import type { Connect } from '../stage/place.ts';
import { type Actor, type ActorState, type ActorTask, NO_STATE } from './actor.ts';
import type { FromActor, ToActor } from './soak-process.ts';

const PROGRAM = besides(import.meta.url, 'soak-process');
/** While servers go away and come back, a start waits for them. */
const START_MS = 90_000;
/** What a stop may take before the process is killed: its drain, its last calls, its close. */
const STOP_MS = 30_000;

/** Starts a process for a task. What it prints goes to a file of its name in `folder`. Throws when it does not come to work. */
export async function startForkedActor(task: ActorTask, connect: Connect, folder: string): Promise<Actor> {
  const log = openSync(join(folder, `${task.name}.log`), 'a');
  const child = fork(PROGRAM, [], { stdio: ['ignore', log, log, 'ipc'] });
  closeSync(log);
  const actor = new ForkedActor(task, child);
  actor.send({ kind: 'start', task, connect });
  await actor.started();
  return actor;
}

class ForkedActor implements Actor {
  readonly task: ActorTask;
  readonly exited: Promise<void>;
  state: ActorState = NO_STATE;
  readonly #child: ChildProcess;
  readonly #answer: Promise<string | null>;
  #hasEnded = false;

  constructor(task: ActorTask, child: ChildProcess) {
    this.task = task;
    this.#child = child;
    this.exited = new Promise((resolve) => {
      child.on('exit', () => {
        this.#hasEnded = true;
        resolve();
      });
    });
    this.#answer = new Promise((resolve) => {
      child.on('message', (message: FromActor) => {
        if (message.kind === 'state') this.state = message.state;
        if (message.kind === 'started') resolve(null);
        if (message.kind === 'failed') resolve(message.reason);
      });
      child.on('error', (error) => resolve(error.message));
      child.on('exit', () => resolve('it ended at its start'));
    });
  }

  get running(): boolean {
    return !this.#hasEnded;
  }

  async started(): Promise<void> {
    const late = setTimeout(() => this.#child.kill('SIGKILL'), START_MS);
    const reason = await this.#answer;
    clearTimeout(late);
    if (reason !== null) throw new Error(`${this.task.name} did not start: ${reason}`);
  }

  send(message: ToActor): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  setClock(skewMs: number): void {
    this.send({ kind: 'clock', skewMs });
  }

  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    const late = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    this.send({ kind: 'stop' });
    await this.exited;
    clearTimeout(late);
  }
}
