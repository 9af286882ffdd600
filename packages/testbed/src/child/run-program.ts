import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startWatchdog } from '../machine/watchdog.ts';
import type { ChildExit } from './start-child.ts';

export interface ProgramOptions {
  readonly cwd?: string;
  readonly args?: readonly string[];
  /** Over the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that knows nothing of its test. */
export interface Program extends AsyncDisposable {
  /** What it wrote so far, standard output and standard error together. */
  output(): string;
  /** Resolves once the output holds the text. Rejects, with the output, when the program ends without it. */
  says(text: string): Promise<void>;
  /** Resolves when it has ended and all of its output was read; never rejects. */
  readonly exited: Promise<ChildExit>;
  kill(signal: NodeJS.Signals): void;
}

/** Runs a TypeScript file of this repository as its user would: by its output, its exit code and signals alone. */
export function runProgram(file: URL, options: ProgramOptions = {}): Program {
  const path = fileURLToPath(file);
  const child = spawn(process.execPath, ['--conditions=surety-source', path, ...(options.args ?? [])], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Unlike a forked child it has no channel on which it could notice that its test is gone.
  const watchdog = startWatchdog('kill -KILL "$1"', [String(child.pid)]);
  const looking = new Set<() => void>();
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const look of looking) look();
    });
  }
  const exited = once(child, 'close').then(([code, signal]): ChildExit => {
    watchdog.dismiss();
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });

  async function says(text: string): Promise<void> {
    const said = Promise.withResolvers<void>();
    const look = (): void => {
      if (output.includes(text)) said.resolve();
    };
    looking.add(look);
    look();
    const ended = exited.then(() => {
      if (!output.includes(text)) throw new Error(`${path} ended without saying "${text}":\n${output}`);
    });
    try {
      await Promise.race([said.promise, ended]);
    } finally {
      looking.delete(look);
      ended.catch(() => undefined);
    }
  }

  return {
    output: () => output,
    says,
    exited,
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
