import { spawn } from 'node:child_process';

/** How a program ended, with all that it printed. */
export interface Ending {
  readonly ok: boolean;
  readonly output: string;
}

export interface ProgramOptions {
  readonly cwd: string;
  /** The program is killed after this time, and has failed. */
  readonly limitMs: number;
  /** Ask the program to end (SIGTERM) once it has printed this text; without it, it ends by itself. */
  readonly stopAfter?: string;
}

/** Runs a program to its end; it is ok when it exits with 0. */
export function runProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<Ending> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment(),
    });
    let output = '';
    let asked = false;
    const limit = setTimeout(() => {
      output += `\n(killed after ${options.limitMs} ms)`;
      child.kill('SIGKILL');
    }, options.limitMs);
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
      if (asked || options.stopAfter === undefined || !output.includes(options.stopAfter)) return;
      // Once: a second signal ends the process as it always would.
      asked = true;
      child.kill('SIGTERM');
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => {
      clearTimeout(limit);
      resolve({ ok: false, output: `${output}${error.message}` });
    });
    child.on('close', (code, signal) => {
      clearTimeout(limit);
      const ok = code === 0 && (options.stopAfter === undefined || asked);
      resolve({ ok, output: ok ? output : `${output}\n(exit ${code ?? signal})` });
    });
  });
}

/** Like that of a user: nothing of this repository's npm run, or of how its own sources are resolved. */
function environment(): NodeJS.ProcessEnv {
  const own = /^(?:npm_|NODE_OPTIONS$|NODE_V8_COVERAGE$|VITEST)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}
