import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../bin/surety.js', import.meta.url));

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Flags of Node itself. */
  readonly flags?: readonly string[];
}

/** Starts the real command. Standard input is empty and no terminal. */
export function startSurety(
  words: readonly string[],
  { cwd, env, flags = [] }: RunOptions = {},
): ChildProcess {
  const { SURETY_URL: _url, NODE_OPTIONS: _options, ...inherited } = process.env;
  return spawn(process.execPath, [...flags, BIN, ...words], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs the real command to its end. Throws when it shows the password of a URL that it was given. */
export async function surety(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const child = startSurety(words, options);
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  for (const url of [options.env?.['SURETY_URL'], ...words]) {
    const password = url !== undefined && URL.canParse(url) ? new URL(url).password : '';
    if (password !== '' && `${stdout}${stderr}`.includes(password))
      throw new Error(`The password was shown:\n${stdout}\n${stderr}`);
  }
  return { code, stdout, stderr };
}

/** The answer of a command with `--json`, which must have gone well unless another code is expected. */
export async function suretyJson<T>(
  words: readonly string[],
  options: RunOptions = {},
  code = 0,
): Promise<T> {
  const ended = await surety([...words, '--json'], options);
  if (ended.code !== code) throw new Error(`Exit code ${ended.code}: ${ended.stderr}${ended.stdout}`);
  return JSON.parse(ended.stdout) as T;
}
