import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monotonicMs } from '../stage/monotonic.ts';

/** A service that the handlers call. It takes a fixed time and writes down when it was called. */
export interface Downstream extends AsyncDisposable {
  readonly url: string;
  /** When calls came, by `monotonicMs()`. */
  readonly calls: readonly number[];
}

/** Starts it on a free port of this machine. */
export async function startDownstream(takesMs: number): Promise<Downstream> {
  const calls: number[] = [];
  const server = createServer((_, response) => {
    calls.push(monotonicMs());
    setTimeout(() => response.end('done'), takesMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * By how many calls the worst stretch of time exceeded what the rate allows in it; at most 0: never more than the rate.
 * `jitterMs`: calls that a busy machine has held up come closer together than they were made.
 */
export function excess(calls: readonly number[], perSecond: number, burst: number, jitterMs: number): number {
  // A bucket that leaks at the rate: its highest level is the worst stretch.
  let level = 0;
  let highest = 0;
  let last = calls[0] ?? 0;
  for (const at of calls) {
    level = Math.max(0, level - ((at - last) * perSecond) / 1000) + 1;
    highest = Math.max(highest, level);
    last = at;
  }
  return highest - burst - (jitterMs * perSecond) / 1000;
}

/** The most calls in any second. */
export function mostInASecond(calls: readonly number[]): number {
  let most = 0;
  let from = 0;
  for (const [index, at] of calls.entries()) {
    while (at - (calls[from] ?? at) >= 1000) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
}
