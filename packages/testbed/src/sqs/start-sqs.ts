import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../child/start-child.ts';
import { freePort } from '../machine/free-port.ts';
import { startWatchdog, type Watchdog } from '../machine/watchdog.ts';
import type { SqsFault, SqsFaults, SqsServer } from './sqs-server.ts';

export interface SqsOptions {
  /** Messages survive `stop` and `kill`; default true. Without, it is faster. */
  readonly durable?: boolean;
  readonly faults?: Partial<SqsFaults>;
}

/** Beside this file, and built when it is. */
const PROGRAM = new URL(import.meta.url.endsWith('.ts') ? './emulator.ts' : './emulator.js', import.meta.url);

/** Starts a private emulator of SQS on a free port of 127.0.0.1, in a process of its own that ends with this one. */
export async function startSqs(options: SqsOptions = {}): Promise<SqsServer> {
  const port = await freePort();
  const folder = options.durable === false ? null : await mkdtemp(join(tmpdir(), 'surety-sqs-'));
  const watchdog = folder === null ? null : startWatchdog('sleep 1; rm -rf "$1"', [folder]);
  const begin = async (): Promise<Child> => {
    const child = await startChild(PROGRAM, { args: [String(port), folder ?? ''] });
    if (faults !== null) await child.call('setFaults', faults);
    return child;
  };
  let faults = options.faults ?? null;
  try {
    const first = await begin();
    const version = await first.call<string>('version');
    return operate({ port, version, first, begin, remove: () => remove(folder, watchdog) }, (set) => {
      faults = set;
    });
  } catch (error) {
    await remove(folder, watchdog);
    throw error;
  }
}

async function remove(folder: string | null, watchdog: Watchdog | null): Promise<void> {
  if (folder !== null) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  watchdog?.dismiss();
}

interface Parts {
  readonly port: number;
  readonly version: string;
  readonly first: Child;
  readonly begin: () => Promise<Child>;
  readonly remove: () => Promise<void>;
}

/** Puts order on the operations: one at a time, and only those that the state allows. */
function operate(parts: Parts, keepFaults: (faults: Partial<SqsFaults>) => void): SqsServer {
  const { port, version, begin } = parts;
  let child = parts.first;
  let state: 'running' | 'paused' | 'down' | 'destroyed' = 'running';
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(operation: () => Promise<T>): Promise<T> => {
    const turn = last.then(operation);
    // A failure is for its caller; the next operation only waits.
    last = turn.catch(() => undefined);
    return turn;
  };
  const from = (states: readonly (typeof state)[], to: typeof state, act: () => unknown) => () =>
    inTurn(async () => {
      if (state === 'destroyed') throw new Error('this emulator has been destroyed');
      if (!states.includes(state)) return;
      await act();
      state = to;
    });
  const ask = <T>(method: string, params: unknown = null): Promise<T> =>
    inTurn(() => child.call<T>(method, params));
  const destroy = (): Promise<void> =>
    inTurn(async () => {
      if (state === 'destroyed') return;
      state = 'destroyed';
      await child.kill9();
      await parts.remove();
    });
  return {
    endpoint: `http://127.0.0.1:${port}`,
    host: '127.0.0.1',
    port,
    region: 'us-east-1',
    version,
    stop: from(['running', 'paused'], 'down', () => child.end()),
    start: from(['down'], 'running', async () => {
      child = await begin();
    }),
    kill: from(['running', 'paused'], 'down', () => child.kill9()),
    pause: from(['running'], 'paused', () => child.pause()),
    resume: from(['paused'], 'running', () => child.resume()),
    cutConnections: () => ask('cutConnections'),
    async setFaults(faults) {
      keepFaults(faults);
      await ask('setFaults', faults);
    },
    faultLog: () => ask<readonly SqsFault[]>('faultLog'),
    elapse: ({ all, delayed, expires = false }, ms) => ask('elapse', { all, delayed, expires, ms }),
    edit: (queue, part, { from: text, to }) => ask<boolean>('edit', { queue, part, from: text, to }),
    takeRequestCounts: () => ask<Readonly<Record<string, number>>>('requestCounts'),
    destroy,
    [Symbol.asyncDispose]: destroy,
  };
}
