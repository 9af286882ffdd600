import type { Backend, Notice } from '../contract/index.ts';
import { isSuretyError, SuretyError } from '../errors/index.ts';
import { inTime, LATE, SLACK_MS } from './in-time.ts';
import { negotiate, type Requirements } from './negotiate.ts';

/** Who uses a backend in this process. Opened with the first user, closed after the last, opened anew for the next. */
interface Session {
  users: number;
  /** The attempt under way. */
  opening: Promise<void> | null;
  /** The close under way; an opening waits for it. */
  closing: Promise<unknown> | null;
  isOpen: boolean;
  /** Counts the closes: an attempt that outlives its close has no say any more. */
  closes: number;
  readonly listeners: Set<(notice: Notice) => void>;
}

/** Keyed by the backend object itself: no name, no default, nothing that outlives it. */
const sessions = new WeakMap<Backend, Session>();

/** One user's hold on a shared backend. */
export interface BackendHold {
  /**
   * Opens the backend unless it is open. Concurrent calls share one attempt; after a failure the next call tries anew. Ends within
   * `timeoutMs` and a little, also when the adapter hangs. Rejects with a SuretyError, also where the opened backend turns out to
   * lack what this user requires: some capabilities, such as the durability, are read from the server.
   */
  ready(timeoutMs: number): Promise<void>;
  readonly isOpen: () => boolean;
  /** Lets go; the last one closes the backend, within `graceMs` and a little. Never rejects: the error of a close is returned. */
  release(graceMs: number): Promise<Error | null>;
}

/** Registers a user of the backend. */
export function holdBackend(
  backend: Backend,
  notify: (notice: Notice) => void,
  requires: Requirements = {},
): BackendHold {
  const session = sessionOf(backend);
  session.users += 1;
  session.listeners.add(notify);
  let held = true;
  const asks = Object.keys(requires).length > 0;
  /** The opening, counted by the closes before it, that was seen to meet the requirements. */
  let metIn = -1;
  return {
    isOpen: () => held && session.isOpen && (!asks || metIn === session.closes),
    async ready(timeoutMs) {
      if (!held)
        throw new SuretyError('BACKEND_CLOSED', 'The backend was let go.', { adapter: backend.name });
      if (!session.isOpen) await open(backend, session, timeoutMs);
      if (asks) negotiate(backend, requires);
      metIn = session.closes;
    },
    async release(graceMs) {
      if (!held) return null;
      held = false;
      session.users -= 1;
      session.listeners.delete(notify);
      return session.users > 0 ? null : closeLast(backend, session, graceMs);
    },
  };
}

function sessionOf(backend: Backend): Session {
  let session = sessions.get(backend);
  if (session === undefined) {
    session = { users: 0, opening: null, closing: null, isOpen: false, closes: 0, listeners: new Set() };
    sessions.set(backend, session);
  }
  return session;
}

/** The attempt is shared; the patience is each caller's own. */
async function open(backend: Backend, session: Session, timeoutMs: number): Promise<void> {
  session.opening ??= attempt(backend, session, timeoutMs);
  if ((await inTime(session.opening, timeoutMs + SLACK_MS)) === LATE) throw notOpened(backend);
}

function attempt(backend: Backend, session: Session, timeoutMs: number): Promise<void> {
  const { closes } = session;
  const opening = openInTime(backend, session, timeoutMs, closes).finally(() => {
    if (session.opening === opening) session.opening = null;
  });
  return opening;
}

async function openInTime(
  backend: Backend,
  session: Session,
  timeoutMs: number,
  closes: number,
): Promise<void> {
  await session.closing;
  const notify = (notice: Notice): void => session.listeners.forEach((listener) => listener(notice));
  try {
    // What opens after we gave it up is open all the same.
    const opened = backend.open({ timeoutMs, notify }).then(() => {
      if (session.closes === closes) session.isOpen = true;
    });
    if ((await inTime(opened, timeoutMs + SLACK_MS)) === LATE) throw notOpened(backend);
  } catch (error) {
    if (isSuretyError(error)) throw error;
    throw new SuretyError('INTERNAL', 'The backend failed to open.', {
      cause: error,
      adapter: backend.name,
      operation: 'open',
      // Nothing was asked of it yet, so nothing can have been done.
      retryable: 'yes',
    });
  }
}

function notOpened(backend: Backend): SuretyError {
  return new SuretyError('BACKEND_TIMEOUT', 'The store was not opened in time.', {
    adapter: backend.name,
    operation: 'open',
  });
}

async function closeLast(backend: Backend, session: Session, graceMs: number): Promise<Error | null> {
  const { opening } = session;
  session.opening = null;
  session.isOpen = false;
  session.closes += 1;
  const closing = closeInTime(backend, opening, graceMs);
  session.closing = closing;
  const fault = await closing;
  if (session.closing === closing) session.closing = null;
  return fault;
}

async function closeInTime(
  backend: Backend,
  opening: Promise<void> | null,
  graceMs: number,
): Promise<Error | null> {
  const closed = (opening ?? Promise.resolve()).catch(() => undefined).then(() => backend.close({ graceMs }));
  try {
    if ((await inTime(closed, graceMs + SLACK_MS)) !== LATE) return null;
    return new SuretyError('BACKEND_TIMEOUT', 'The backend did not close in time.', {
      adapter: backend.name,
      operation: 'close',
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
