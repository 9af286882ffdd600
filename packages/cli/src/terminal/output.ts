import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { hiderOf } from './secrets.ts';

/** What it needs of a stream; those of the process are two. */
export type Stream = Pick<NodeJS.WritableStream, 'write' | 'on'> &
  Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

/** Colours that are used, by what they mean. */
export type Tone = 'good' | 'warn' | 'bad' | 'faint' | 'strong';

const FORMATS = { good: 'green', warn: 'yellow', bad: 'red', faint: 'dim', strong: 'bold' } as const;
const CLEAR_SCREEN = '\u001b[2J\u001b[H';
/** Off a terminal, where a program or a log reads, next to nothing is cut. */
const DEFAULT_COLUMNS = 400;

/** Where a command writes: answers to standard output, everything else to standard error. */
export interface Output {
  readonly isTerminal: boolean;
  readonly columns: number;
  print(...lines: readonly string[]): void;
  json(value: unknown, layout?: 'line' | 'block'): void;
  /** For people, beside the answer: a question, a hint. */
  aside(line: string): void;
  /** The one line of an error. */
  error(message: string): void;
  /** Coloured on a terminal only, and not where NO_COLOR is set. */
  readonly tone: (tone: Tone, text: string) => string;
  /** Without the passwords of the URLs that this process was given. */
  hide(text: string): string;
  clear(): void;
  /** For a program that writes by itself. */
  readonly stream: Stream;
}

/** Output of a process. `urls`: those that may hold a password. */
export function outputOn(
  stdout: Stream,
  stderr: Stream,
  urls: readonly (string | null | undefined)[],
): Output {
  // The reader of a pipe may have seen enough (`| head`): no fault, and nobody to tell.
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: Error & { readonly code?: string }) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit();
    });
  }
  const isTerminal = stdout.isTTY === true;
  const colours = isTerminal && !isSet('NO_COLOR') && process.env['TERM'] !== 'dumb';
  const hide = hiderOf(urls);
  const oneLine = (text: string): string =>
    hide(text)
      .replaceAll(/\s*[\r\n]+\s*/g, ' ')
      .trim();
  return {
    isTerminal,
    columns: stdout.columns ?? DEFAULT_COLUMNS,
    print: (...lines) => void stdout.write(`${lines.join('\n')}\n`),
    json: (value, layout = 'block') =>
      void stdout.write(`${JSON.stringify(value, null, layout === 'block' ? 2 : 0)}\n`),
    aside: (line) => void stderr.write(`${oneLine(line)}\n`),
    error: (message) => void stderr.write(`surety: ${oneLine(message)}\n`),
    tone: (tone, text) => (colours ? styleText(FORMATS[tone], text, { validateStream: false }) : text),
    hide,
    clear: () => void (isTerminal && stdout.write(CLEAR_SCREEN)),
    stream: stdout,
  };
}

function isSet(name: string): boolean {
  return (process.env[name] ?? '') !== '';
}
