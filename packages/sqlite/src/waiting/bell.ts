import { joinFile, leaveFile, tellFile } from './neighbours.ts';

/** The shortest pause between two looks at the file, right after something has changed. */
const FIRST_LOOK_MS = 4;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One wait. */
interface WaitRequest {
  readonly queue: string;
  /** `dataVersion` before the look that found nothing, so that no change in between is missed. */
  readonly seenVersion: number;
  /** `ring`s heard before that look. */
  readonly seenRings: number;
  readonly forMs: number;
  readonly signal: AbortSignal | null;
}

/** What wakes waiting claims: the signals of this process, and changes that others made to the file. */
export interface Bell {
  /** How often it has been rung; see {@link WaitRequest}. */
  readonly rings: number;
  /** Ends when the queue may have got something, after `forMs`, when the signal aborts or the bell is closed. Never throws. */
  wait(request: WaitRequest): Promise<void>;
  /** Tells all backends of this process that share the file. */
  ring(queues: ReadonlySet<string>): void;
  join(fileKey: string): void;
  leave(): void;
  /** Ends all waits, for good. */
  close(): void;
}

interface Waiter {
  readonly request: WaitRequest;
  readonly end: () => void;
}

/** Makes the bell of one backend. Its timer runs only while somebody waits. */
export function createBell(source: { readonly pollMs: number; readonly dataVersion: () => number }): Bell {
  return new FileBell(source.pollMs, source.dataVersion);
}

class FileBell implements Bell {
  rings = 0;
  readonly #pollMs: number;
  readonly #dataVersion: () => number;
  readonly #waiters = new Set<Waiter>();
  #fileKey: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  #pauseMs: number;
  #closed = false;

  constructor(pollMs: number, dataVersion: () => number) {
    this.#pollMs = pollMs;
    this.#dataVersion = dataVersion;
    this.#pauseMs = Math.min(FIRST_LOOK_MS, pollMs);
  }

  wait(request: WaitRequest): Promise<void> {
    const { signal, seenRings } = request;
    if (this.#closed || signal?.aborted === true || seenRings !== this.rings) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        this.#waiters.delete(waiter);
        if (this.#waiters.size === 0) this.#stopLooking();
        resolve();
      };
      const waiter: Waiter = { request, end };
      const timer = setTimeout(end, Math.min(Math.max(1, Math.ceil(request.forMs)), LONGEST_TIMER_MS));
      signal?.addEventListener('abort', end);
      this.#waiters.add(waiter);
      if (this.#timer === null) this.#lookLater();
    });
  }

  ring(queues: ReadonlySet<string>): void {
    if (this.#fileKey !== null) tellFile(this.#fileKey, queues);
  }

  join(fileKey: string): void {
    this.leave();
    this.#fileKey = fileKey;
    joinFile(fileKey, this.#hear);
  }

  leave(): void {
    if (this.#fileKey !== null) leaveFile(this.#fileKey, this.#hear);
    this.#fileKey = null;
    this.#wakeAll();
  }

  close(): void {
    this.#closed = true;
    this.leave();
  }

  readonly #hear = (queues: ReadonlySet<string>): void => {
    this.rings += 1;
    for (const { request, end } of this.#waiters) if (queues.has(request.queue)) end();
  };

  #wakeAll(): void {
    this.rings += 1;
    for (const { end } of this.#waiters) end();
  }

  #lookLater(): void {
    this.#timer = setTimeout(() => this.#look(), this.#pauseMs);
  }

  #look(): void {
    const version = this.#read();
    let changed = false;
    for (const { request, end } of this.#waiters) {
      if (version === request.seenVersion) continue;
      changed = true;
      end();
    }
    const first = Math.min(FIRST_LOOK_MS, this.#pollMs);
    this.#pauseMs = changed ? first : Math.min(this.#pollMs, this.#pauseMs * 1.5);
    if (this.#waiters.size > 0) this.#lookLater();
  }

  /** A file that cannot be read wakes everybody: their next look meets the error and reports it. */
  #read(): number | null {
    try {
      return this.#dataVersion();
    } catch {
      return null;
    }
  }

  #stopLooking(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
