import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fateOf } from './fate.ts';
import { seeded } from './seeded.ts';

/** A real HTTP server on 127.0.0.1 that every handler calls twice: before its effect (`/deliver`), and after it (`/confirm`). */
export interface FlakyDependency extends AsyncDisposable {
  readonly url: string;
  /** Transient refusals (503) so far. */
  readonly refusals: number;
  /** Keys of the deliveries that a worker is at work on at this moment. */
  running(worker: string): readonly string[];
  /**
   * Resolves in the moment in which a handler of the worker has written its effect and asks for its confirmation, which it
   * will never get, while others of the worker are at work too: its job is neither done nor undone, theirs are not begun.
   */
  holdNextConfirmation(worker: string): Promise<void>;
}

/** Between 60 and 140 ms for a delivery, 20 for a confirmation: long enough to be caught in the middle. */
const FASTEST_MS = 60;
const SPREAD_MS = 80;
const CONFIRM_MS = 20;

/** The moment of {@link FlakyDependency.holdNextConfirmation} comes when so many jobs of the worker are running. */
const CAUGHT_JOBS = 3;

/** Starts it on a free port. */
export async function startFlakyDependency(): Promise<FlakyDependency> {
  const state = new DependencyState();
  const server = createServer((request, response) => state.handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get refusals() {
      return state.refusals;
    },
    running: (worker) => state.running(worker),
    holdNextConfirmation: (worker) => state.holdNextConfirmation(worker),
    [Symbol.asyncDispose]: () => closed(server),
  };
}

class DependencyState {
  refusals = 0;
  readonly #requestsOf = new Map<string, number>();
  readonly #open = new Map<ServerResponse, { readonly worker: string; readonly key: string }>();
  #hold: { readonly worker: string; readonly caught: () => void } | null = null;

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const key = searchParams.get('key') ?? '';
    const worker = searchParams.get('worker') ?? '';
    this.#open.set(response, { worker, key });
    response.on('close', () => this.#open.delete(response));
    // The body is not of interest, but a request whose body is not read keeps its connection from being used again.
    request.resume();
    if (pathname === '/deliver') this.#deliver(response, key);
    else this.#confirm(response, worker);
  }

  running(worker: string): readonly string[] {
    return [...this.#open.values()].filter((each) => each.worker === worker).map(({ key }) => key);
  }

  holdNextConfirmation(worker: string): Promise<void> {
    return new Promise((resolve) => {
      this.#hold = { worker, caught: resolve };
    });
  }

  #deliver(response: ServerResponse, key: string): void {
    const earlier = this.#requestsOf.get(key) ?? 0;
    this.#requestsOf.set(key, earlier + 1);
    const delayMs = FASTEST_MS + SPREAD_MS * seeded('latency', key, String(earlier));
    setTimeout(() => this.#answerDelivery(response, key, earlier), delayMs);
  }

  #answerDelivery(response: ServerResponse, key: string, earlier: number): void {
    const fate = fateOf(key);
    if (fate.kind === 'rejected') return answer(response, 410, 'the recipient is gone');
    if (earlier >= fate.refusals) return answer(response, 200, 'delivered');
    this.refusals += 1;
    answer(response, 503, 'overloaded, try again');
  }

  #confirm(response: ServerResponse, worker: string): void {
    if (this.#hold?.worker !== worker || new Set(this.running(worker)).size < CAUGHT_JOBS) {
      setTimeout(() => answer(response, 200, 'confirmed'), CONFIRM_MS);
      return;
    }
    this.#hold.caught();
    this.#hold = null;
  }
}

function answer(response: ServerResponse, status: number, text: string): void {
  if (!response.destroyed) response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
}

async function closed(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  if (server.listening) await once(server, 'close');
}
