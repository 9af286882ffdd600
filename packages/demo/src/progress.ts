import type { WriteStream } from 'node:tty';

/** Where the demo writes: lines that stay, and one that is rewritten while something goes on. */
export interface Progress {
  /** A line that stays, with the seconds since the start. */
  step(name: string, text: string): void;
  /** The line that is rewritten. Off a terminal, a plain line every second. */
  update(text: string): void;
  /** Lines that stay, as they are. */
  print(lines: readonly string[]): void;
}

/** What it needs of a stream; `process.stdout` is one, on a terminal or not. */
export type Output = Pick<NodeJS.WritableStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

/** Often enough to see it go on, seldom enough for the log of a CI run. */
const PLAIN_EVERY_MS = 1000;
const CLEAR_LINE = '\r\u001b[2K';
/** Widest name of a step, so that the texts stand under each other. */
const NAME_WIDTH = 9;

/** Starts the clock. */
export function progressOn(output: Output): Progress {
  const startedAt = performance.now();
  const rewrites = output.isTTY === true;
  let lastPlainAt = startedAt;
  const clear = (): string => (rewrites ? CLEAR_LINE : '');
  const entry = (name: string, text: string): string => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    return `  ${seconds.padStart(4)} s  ${name.padEnd(NAME_WIDTH)}  ${text}`;
  };
  return {
    step: (name, text) => void output.write(`${clear()}${entry(name, text)}\n`),
    update(text) {
      if (rewrites) {
        // One column stays free: some terminals wrap when the last one is written.
        output.write(`${CLEAR_LINE}${entry('', text).slice(0, (output.columns ?? 80) - 1)}`);
        return;
      }
      if (performance.now() - lastPlainAt < PLAIN_EVERY_MS) return;
      lastPlainAt = performance.now();
      output.write(`${entry('', text)}\n`);
    },
    print: (lines) => void output.write(`${clear()}${lines.join('\n')}\n`),
  };
}
