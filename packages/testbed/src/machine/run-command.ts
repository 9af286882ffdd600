import { spawn } from 'node:child_process';

export interface CommandOptions {
  readonly timeoutMs?: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

export interface CommandResult {
  /** `null` when a signal ended it, or when it could not be started at all (`output` then says why). */
  readonly code: number | null;
  readonly stdout: string;
  /** Both streams in the order they came, for error messages. */
  readonly output: string;
}

/** Runs a command to its end and collects what it printed. Never rejects: a command that fails is an answer. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.timeoutMs ?? 60_000,
      killSignal: 'SIGKILL',
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      ...options.user,
    });
    let stdout = '';
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.on('error', (error) => resolve({ code: null, stdout, output: `${output}${error.message}` }));
    child.on('close', (code) => resolve({ code, stdout, output }));
  });
}

/** As `runCommand`, but a failure rejects with the end of what was printed. */
export async function mustRun(
  command: string,
  args: readonly string[],
  options?: CommandOptions,
): Promise<string> {
  const result = await runCommand(command, args, options);
  if (result.code !== 0) {
    throw new Error(
      `${command} ${args.join(' ')} failed (exit code ${result.code}):\n${result.output.slice(-2000)}`,
    );
  }
  return result.stdout;
}
