import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const CHILD = fileURLToPath(new URL('../support/children/worker-process.ts', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly lines: Record<string, unknown>[];
  readonly told: string;
}

/** Runs the child with its output on pipes and waits until it has ended by itself. */
function run(how: string, onTold: (text: string, pid: number) => void = () => undefined): Promise<Ended> {
  const child = spawn(process.execPath, ['--conditions=surety-source', CHILD, how], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let told = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text;
    onTold(told, child.pid ?? 0);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const lines = out
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      resolve({ code, signal, lines, told });
    });
  });
}

const attempts = ({ lines }: Ended): number => lines.filter(({ msg }) => msg === 'attempt').length;

test('a process ends by itself after stop(), its lines written', async () => {
  const ended = await run('stop');
  expect(ended.code).toBe(0);
  expect(attempts(ended)).toBe(5);
  expect(JSON.parse(ended.told)).toMatchObject({ abandoned: 0 });
});

test('B038: so it does when the store is frozen under a running job', async () => {
  const ended = await run('frozen');
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.told)).toMatchObject({ finished: 0, released: 0, abandoned: 1 });
});

test('B038: and when it never connected', async () => {
  const ended = await run('never-connected');
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.told)).toEqual({ finished: 0, released: 0, abandoned: 0 });
});

test('lines that are still buffered are written at process.exit', async () => {
  const ended = await run('exit');
  expect(ended.code).toBe(7);
  expect(attempts(ended)).toBe(5);
});

test('and after an uncaught error', async () => {
  const ended = await run('uncaught');
  expect(ended.code).toBe(1);
  expect(ended.told).toContain('nobody catches this');
  expect(attempts(ended)).toBeGreaterThanOrEqual(2);
});

test('SIGTERM stops in order where `signals` is set', async () => {
  let sent = false;
  const ended = await run('signal', (told, pid) => {
    if (sent || !told.includes('ready')) return;
    sent = true;
    process.kill(pid, 'SIGTERM');
  });
  // The client of the child is still open; the worker is not, and nothing of it keeps the process.
  expect(ended.signal).toBeNull();
  expect(ended.code).toBe(0);
  expect(attempts(ended)).toBe(5);
});
