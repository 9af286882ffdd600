import { createReadStream } from 'node:fs';
import { TRACE_VERSION, type TraceLine } from '@surety/core/trace';
import { UnreadableTrace } from './unreadable-trace.ts';

/** Where a line stands: the number of its file and its own, in one. */
export type Ref = number;

const LINES_PER_FILE = 2 ** 32;
const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 10;

/** `file:line` of a reference. */
export function placeOf(ref: Ref, files: readonly string[]): string {
  return `${files[Math.floor(ref / LINES_PER_FILE)]}:${ref % LINES_PER_FILE}`;
}

/**
 * Hands every line of a file on, in order. Answers how many were torn: a process that was killed while it wrote may leave one, so a file
 * may have as many as processes have opened it. Throws UnreadableTrace for more, and for what is no trace.
 */
export async function readLines(
  file: string,
  index: number,
  take: (line: TraceLine, ref: Ref) => void,
): Promise<number> {
  const state = { number: 0, opened: 0, torn: 0, lastTorn: 0 };
  const takeText = (text: string): void => {
    state.number += 1;
    if (text.trim() === '') return;
    const line = parsed(text);
    if (line === null) {
      state.torn += 1;
      state.lastTorn = state.number;
      return;
    }
    if (line.kind === 'open') state.opened += 1;
    if (line.kind === 'open' && line.v > TRACE_VERSION)
      throw new UnreadableTrace(`${file} was written by a later version (${line.v}) of the trace format.`);
    take(line, index * LINES_PER_FILE + state.number);
  };
  await eachLine(file, takeText);
  if (state.opened === 0) throw new UnreadableTrace(`${file} is no trace: no line of it opens one.`);
  if (state.torn > state.opened)
    throw new UnreadableTrace(
      `${file}:${state.lastTorn} cannot be read, and more lines are torn than processes have written.`,
    );
  return state.torn;
}

async function eachLine(file: string, take: (text: string) => void): Promise<void> {
  let rest: Buffer | null = null;
  try {
    for await (const chunk of createReadStream(file, {
      highWaterMark: CHUNK_BYTES,
    }) as AsyncIterable<Buffer>) {
      const bytes: Buffer = rest === null ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (let to = bytes.indexOf(NEWLINE); to >= 0; to = bytes.indexOf(NEWLINE, from)) {
        take(bytes.toString('utf8', from, to));
        from = to + 1;
      }
      rest = from < bytes.length ? Buffer.from(bytes.subarray(from)) : null;
    }
  } catch (cause) {
    if (cause instanceof UnreadableTrace) throw cause;
    throw new UnreadableTrace(
      `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`,
      {
        cause,
      },
    );
  }
  if (rest !== null) take(rest.toString('utf8'));
}

/** Null: torn. */
function parsed(text: string): TraceLine | null {
  try {
    const line = JSON.parse(text) as Partial<TraceLine> | null;
    const isLine = typeof line?.kind === 'string' && typeof line.process === 'string';
    return isLine && typeof line.seq === 'number' && typeof line.at === 'number' ? (line as TraceLine) : null;
  } catch {
    return null;
  }
}
