import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withDeadline } from '../machine/deadline.ts';
import { freePort } from '../machine/free-port.ts';
import { killTree } from '../machine/process-tree.ts';
import { startWatchdog } from '../machine/watchdog.ts';
import { findPrometheus } from './find-prometheus.ts';

export interface PrometheusOptions {
  /** The text of `prometheus.yml`. */
  readonly config: string;
  /** Files beside it, by name: what `rule_files` names. */
  readonly files?: Readonly<Record<string, string>>;
}

/** One series of an instant query. `value` is a number, also for what Prometheus writes as `NaN`. */
export interface PrometheusSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A private Prometheus. */
export interface Prometheus extends AsyncDisposable {
  readonly url: string;
  readonly version: string;
  /** An instant query. A range as the outermost thing is no instant: use a function over it. */
  query(expression: string): Promise<readonly PrometheusSample[]>;
  /** What an endpoint of its HTTP API answers as `data`, for instance `/api/v1/rules`. */
  ask<Data = unknown>(path: string, parameters?: Readonly<Record<string, string>>): Promise<Data>;
  destroy(): Promise<void>;
}

/** Starts Prometheus on a free port of 127.0.0.1 with a folder of its own; it is installed on Debian and Ubuntu as root where it is missing. */
export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const { prometheus: program } = await findPrometheus();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = await mkdtemp(join(tmpdir(), 'surety-prometheus-'));
  for (const [name, text] of Object.entries({ ...options.files, 'prometheus.yml': options.config })) {
    if (basename(name) !== name) throw new Error(`${name} must be the name of a file in the same folder`);
    await writeFile(join(folder, name), text);
  }
  const log = await open(join(folder, 'log'), 'a');
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn(program, args, { detached: true, stdio: ['ignore', log.fd, log.fd], cwd: folder });
  child.on('error', () => undefined);
  child.unref();
  await log.close();
  const watchdog = startWatchdog('kill -9 "$1" 2>/dev/null; rm -rf "$2"', [String(child.pid), folder]);
  const destroy = async (): Promise<void> => {
    await end(child);
    watchdog.dismiss();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    await awaitReady(url, child);
    const { version } = await ask<{ version: string }>(url, '/api/v1/status/buildinfo', {});
    return {
      url,
      version,
      query: (expression) => query(url, expression),
      ask: (path, parameters = {}) => ask(url, path, parameters),
      destroy,
      [Symbol.asyncDispose]: destroy,
    };
  } catch (error) {
    const text = await readFile(join(folder, 'log'), 'utf8').catch(() => '');
    await destroy();
    throw new Error(`Prometheus (${program}) did not start on port ${port}:\n${text.slice(-2000)}`, {
      cause: error,
    });
  }
}

async function query(url: string, expression: string): Promise<readonly PrometheusSample[]> {
  const { resultType, result } = await ask<QueryData>(url, '/api/v1/query', { query: expression });
  if (resultType !== 'vector') throw new Error(`${expression} is a ${resultType}, not an instant vector`);
  return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
}

interface QueryData {
  readonly resultType: string;
  readonly result: readonly {
    readonly metric: Readonly<Record<string, string>>;
    readonly value: readonly [number, string];
  }[];
}

interface Answer {
  readonly status: string;
  readonly data?: unknown;
  readonly error?: string;
}

async function ask<Data>(
  url: string,
  path: string,
  parameters: Readonly<Record<string, string>>,
): Promise<Data> {
  const response = await fetch(`${url}${path}?${new URLSearchParams(parameters).toString()}`, {
    signal: AbortSignal.timeout(30_000),
  });
  const { status, data, error } = (await response.json()) as Answer;
  if (status !== 'success') throw new Error(`Prometheus refused ${path}: ${error ?? response.status}`);
  return data as Data;
}

async function awaitReady(url: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const ready = await fetch(`${url}/-/ready`, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
    await ready?.body?.cancel();
    if (ready?.ok === true) return;
    if (hasEnded(child)) throw new Error('the server ended');
    if (performance.now() > deadline) throw new Error('Prometheus was not ready within 60 s');
    await sleep(20);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const ended = once(child, 'exit');
  await killTree(child.pid);
  // The deadline's timer also keeps this process alive, which the unreferenced server does not.
  await withDeadline(ended, 10_000, () => 'Prometheus did not end after SIGKILL');
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
