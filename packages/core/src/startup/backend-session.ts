import type { Backend, Notice } from '../contract/index.ts';
import { isSuretyError, SuretyError } from '../errors/index.ts';

/** Who uses a backend in this process. Opened with the first user, closed after the last. */
interface Session {
  users: number;
  opening: Promise<void> | null;
  isOpen: boolean;
  readonly listeners: Set<(notice: Notice) => void>;
}

/** Keyed by the backend object itself: no name, no default, nothing that outlives it. */
const sessions = new WeakMap<Backend, Session>();

/** One user's hold on a shared backend. */
export interface BackendHold {
  /** Opens the backend unless it is open. Concurrent calls share one attempt; after a failure the next call tries anew. */
  ready(timeoutMs: number): Promise<void>;
  readonly isOpen: () => boolean;
  /** Lets go; the last one closes the backend. Never rejects: the error of a close is returned. */
  release(graceMs: number): Promise<Error | null>;
}

/** Registers a user of the backend. */
export function holdBackend(backend: Backend, notify: (notice: Notice) => void): BackendHold {
  const session = sessions.get(backend) ?? { users: 0, opening: null, isOpen: false, listeners: new Set() };
  sessions.set(backend, session);
  session.users += 1;
  session.listeners.add(notify);
  let held = true;
  return {
    isOpen: () => session.isOpen,
    ready: (timeoutMs) => (session.isOpen ? Promise.resolve() : open(backend, session, timeoutMs)),
    async release(graceMs) {
      if (!held) return null;
      held = false;
      session.users -= 1;
      session.listeners.delete(notify);
      if (session.users > 0) return null;
      sessions.delete(backend);
      return closeQuietly(backend, session, graceMs);
    },
  };
}

function open(backend: Backend, session: Session, timeoutMs: number): Promise<void> {
  session.opening ??= backend
    .open({ timeoutMs, notify: (notice) => session.listeners.forEach((listener) => listener(notice)) })
    .then(
      () => {
        session.isOpen = true;
        session.opening = null;
      },
      (error: unknown) => {
        session.opening = null;
        throw isSuretyError(error)
          ? error
          : new SuretyError('INTERNAL', 'The backend failed to open.', {
              cause: error,
              adapter: backend.name,
            });
      },
    );
  return withinTime(session.opening, timeoutMs, backend.name);
}

/** The adapter keeps its own deadline; this one holds when it does not. */
function withinTime(opening: Promise<void>, timeoutMs: number, adapter: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = (): void =>
      reject(
        new SuretyError('BACKEND_TIMEOUT', 'The store was not opened in time.', {
          adapter,
          operation: 'open',
        }),
      );
    const timer = setTimeout(late, timeoutMs + 250);
    opening.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

async function closeQuietly(backend: Backend, session: Session, graceMs: number): Promise<Error | null> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const closed = (session.opening ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => backend.close({ graceMs }));
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), graceMs + 250);
    });
    const end = await Promise.race([closed, late]);
    return end === 'late'
      ? new SuretyError('BACKEND_TIMEOUT', 'The backend did not close in time.', {
          adapter: backend.name,
          operation: 'close',
        })
      : null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    clearTimeout(timer);
  }
}
