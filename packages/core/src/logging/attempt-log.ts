import pino, { type Logger } from 'pino';
import type { AttemptEvent, AttemptOutcome } from '../events/worker-events.ts';
import { isPlain, PlainLines, roundedMs } from './plain-lines.ts';

/** `all`: one line per attempt. `failures`: only attempts that were retried, buried or lost. `none`: not even warnings. */
export type LogChoice = 'all' | 'failures' | 'none';

/**
 * Bytes gathered before a write: a line a write costs more than a short job itself. The destination refuses to gather as much
 * as it writes at once (16 KiB).
 */
const BUFFER_BYTES = 15 * 1024;
/** A line is on its way after this time at the latest. */
const FLUSH_EVERY_MS = 1000;

const LEVELS: Readonly<Record<AttemptOutcome, 'info' | 'warn' | 'error'>> = Object.freeze({
  completed: 'info',
  cancelled: 'info',
  released: 'info',
  snoozed: 'info',
  retried: 'warn',
  'lease-lost': 'warn',
  unknown: 'warn',
  dead: 'error',
});

/** Writes the log of a worker. */
export interface AttemptLog {
  readonly logger: Logger;
  /** Whether an attempt that ended so gets a line. */
  readonly wants: (outcome: AttemptOutcome) => boolean;
  /** Never throws, whatever the application's own logger does. */
  readonly attempt: (event: AttemptEvent) => void;
  /** Lets `write` use the logger; what that throws harms nobody. */
  readonly say: (write: (logger: Logger) => void) => void;
  /** Writes what is buffered and lets go of timers and hooks. */
  readonly close: () => void;
}

/**
 * One structured line per attempt on standard output, buffered; flushed every second, at exit and after an uncaught error. SIGKILL
 * loses the last second of lines, never a job. With a logger of the application's own, its destination decides.
 */
export function attemptLog(choice: LogChoice, own: Logger | null): AttemptLog {
  const given = own ?? (choice === 'none' ? pino({ level: 'silent' }) : null);
  if (given !== null)
    return logOf(
      given,
      choice,
      (event) => writeLine(given, event),
      () => undefined,
    );
  const destination = pino.destination({ fd: 1, sync: false, minLength: BUFFER_BYTES });
  // A closed pipe (`| head`) must not end the process.
  destination.on('error', () => undefined);
  const base = { pid: process.pid };
  const logger = pino({ base, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  const plain = new PlainLines(base);
  const write = (event: AttemptEvent): void => {
    if (isPlain(event)) destination.write(plain.lineOf(event));
    else writeLine(logger, event);
  };
  const flush = (): void => {
    try {
      destination.flushSync();
    } catch {
      // Not yet opened, or the pipe is gone: there is nowhere to write to, and nothing else may fail for it.
    }
  };
  const timer = setInterval(() => destination.flush(), FLUSH_EVERY_MS);
  timer.unref();
  process.on('exit', flush);
  return logOf(logger, choice, write, () => {
    clearInterval(timer);
    flush();
    process.off('exit', flush);
  });
}

function logOf(
  logger: Logger,
  choice: LogChoice,
  write: (event: AttemptEvent) => void,
  close: () => void,
): AttemptLog {
  const say: AttemptLog['say'] = (use) => {
    try {
      use(logger);
    } catch {
      // A log that cannot be written must not cost a job.
    }
  };
  const wants: AttemptLog['wants'] = (outcome) =>
    choice === 'all' || (choice === 'failures' && LEVELS[outcome] !== 'info');
  const attempt = (event: AttemptEvent): void => {
    if (wants(event.outcome)) say(() => write(event));
  };
  return { logger, wants, say, attempt, close };
}

function writeLine(logger: Logger, event: AttemptEvent): void {
  const line: Record<string, unknown> = {
    jobId: event.jobId,
    type: event.type,
    queue: event.queue,
    attempt: event.attempt,
    durationMs: roundedMs(event.durationMs),
    waitMs: event.waitMs,
    outcome: event.outcome,
  };
  if (event.errorClass !== null) {
    line['errorClass'] = event.errorClass;
    line['code'] = event.code;
    line['error'] = event.message;
  } else if (event.message !== null) line['reason'] = event.message;
  logger[LEVELS[event.outcome]](line, 'attempt');
}
