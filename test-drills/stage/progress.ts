import type { WriteStream } from 'node:tty';

/** Where drills write: lines that stay, and one that is rewritten while something goes on. */
export interface Progress {
  /** The line that is rewritten. Off a terminal, a plain line now and then. */
  readonly update: (text: string) => void;
  /** Lines that stay. */
  readonly print: (...lines: readonly string[]) => void;
}

/** What it needs of a stream; `process.stdout` is one, on a terminal or not. */
export type Output = Pick<NodeJS.WritableStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

/** Often enough to see it go on, seldom enough for the log of a CI run. */
const PLAIN_EVERY_MS = 5000;
const CLEAR_LINE = '\r\u001b[2K';

/** Starts the clock that stands before each line of progress. */
export function progressOn(output: Output, name: string): Progress {
  const startedAt = performance.now();
  const rewrites = output.isTTY === true;
  let lastPlainAt = Number.NEGATIVE_INFINITY;
  const entry = (text: string): string =>
    `  ${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${name}  ${text}`;
  return {
    update(text) {
      if (rewrites) {
        // One column stays free: some terminals wrap when the last one is written.
        output.write(`${CLEAR_LINE}${entry(text).slice(0, (output.columns ?? 80) - 1)}`);
        return;
      }
      if (performance.now() - lastPlainAt < PLAIN_EVERY_MS) return;
      lastPlainAt = performance.now();
      output.write(`${entry(text)}\n`);
    },
    print: (...lines) => void output.write(`${rewrites ? CLEAR_LINE : ''}${lines.join('\n')}\n`),
  };
}
