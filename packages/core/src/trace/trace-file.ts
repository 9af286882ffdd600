import { closeSync, openSync, writeSync } from 'node:fs';
import { SuretyError } from '../errors/index.ts';
import { messageOf } from '../errors/message-of.ts';
import { HOST, hostTime, PROCESS } from './host-clock.ts';
import { type FaultFacts, TRACE_VERSION, type TraceEvent } from './trace-lines.ts';

/**
 * A history that is being written: an append-only file of JSON lines. Give each process a file of its own, and all of them to the
 * checker.
 */
export interface Trace {
  readonly path: string;
  /**
   * Adds a line. `before`: it is in the file, with all before it, when the call returns: for what is about to be done. `after`: it
   * follows with the next such line, or within the turn of the event loop. Throws BACKEND_UNAVAILABLE, `before` only, when the file
   * cannot be written: what cannot be witnessed is not done.
   */
  record(event: TraceEvent, when: 'before' | 'after'): void;
  /** Notes a fault that was injected, so that what it explains is no finding. At once in the file. Throws as `record`. */
  fault(fault: string, facts?: FaultFacts): void;
  /** The next number for a call or lease of this process. */
  next(): number;
  /** Writes what is left and closes the file. Twice is once. Throws as `record`. */
  close(): void;
}

/** Text that may wait in memory: past it an answer is written at once too. */
const MOST_WAITING = 64 * 1024;

let lines = 0;
let numbers = 0;

/** Opens a trace for appending, made when it is not there. Throws OPTIONS_INVALID. */
export function openTrace(path: string): Trace {
  return new TraceFile(path);
}

class TraceFile implements Trace {
  readonly path: string;
  #fd: number | null;
  #waiting = '';
  /** What a write that failed has left. */
  #cut: Buffer | null = null;
  #flush: NodeJS.Immediate | null = null;

  constructor(path: string) {
    this.path = path;
    this.#fd = opened(path);
    const wall = new Date().toISOString();
    this.record({ kind: 'open', v: TRACE_VERSION, host: HOST, pid: process.pid, wall }, 'before');
  }

  record(event: TraceEvent, when: 'before' | 'after'): void {
    // What answers after the end belongs to nobody.
    if (this.#fd === null && when === 'after') return;
    const text = JSON.stringify(event);
    const head = `"process":"${PROCESS}","seq":${++lines},"at":${hostTime(performance.now())}`;
    this.#waiting += `${text.slice(0, -1)},${head}}\n`;
    if (when === 'before') this.#write();
    else if (this.#waiting.length > MOST_WAITING) this.#writeLater();
    else this.#flush ??= setImmediate(() => this.#writeLater());
  }

  fault(fault: string, facts: FaultFacts = {}): void {
    this.record({ kind: 'fault', fault, ...facts }, 'before');
  }

  next(): number {
    return ++numbers;
  }

  close(): void {
    if (this.#fd === null) return;
    try {
      this.record({ kind: 'close' }, 'before');
    } finally {
      const fd = this.#fd;
      this.#fd = null;
      this.#stopWaiting();
      closeSync(fd);
    }
  }

  /** An answer has come and must be handed on; the next call is refused instead. */
  #writeLater(): void {
    this.#flush = null;
    try {
      if (this.#waiting !== '') this.#write();
    } catch {
      // What could not be written still waits.
    }
  }

  /**
   * One write for all that waits. It begins with an empty line, so that a line that another process, or an earlier one, left torn
   * does not spoil the next.
   */
  #write(): void {
    this.#stopWaiting();
    if (this.#fd === null) throw failed(this.path, new Error('the trace was closed'));
    let rest = Buffer.from(`\n${this.#waiting}`);
    if (this.#cut !== null) rest = Buffer.concat([this.#cut, rest]);
    this.#waiting = '';
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#fd, rest));
      this.#cut = null;
    } catch (cause) {
      this.#cut = rest;
      throw failed(this.path, cause);
    }
  }

  #stopWaiting(): void {
    if (this.#flush !== null) clearImmediate(this.#flush);
    this.#flush = null;
  }
}

function opened(path: unknown): number {
  if (typeof path !== 'string' || path === '')
    throw new SuretyError('OPTIONS_INVALID', 'A trace is the path of a file.');
  try {
    return openSync(path, 'a');
  } catch (cause) {
    throw new SuretyError('OPTIONS_INVALID', `The trace ${path} cannot be opened: ${messageOf(cause)}.`, {
      cause,
      remedy: 'Name a file that this process may write.',
    });
  }
}

/** The store is fine and was not asked; but what is not in the history could not be explained later. */
function failed(path: string, cause: unknown): SuretyError {
  return new SuretyError('BACKEND_UNAVAILABLE', `The trace ${path} cannot be written: ${messageOf(cause)}.`, {
    cause,
    operation: 'trace',
    remedy: 'Free disk space, or run without a trace.',
  });
}
