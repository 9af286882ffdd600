import type { Backend } from '@surety/core/contract';
import { rabbitmq } from '@surety/rabbitmq';
import { type Program, type RabbitmqServer, runProgram, startRabbitmq } from '@surety/testbed';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

const CALL = { timeoutMs: 20_000 };
const programs: Program[] = [];
let server: RabbitmqServer;
let backend: Backend;

beforeAll(async () => {
  server = await startRabbitmq();
  backend = rabbitmq({ url: server.url });
  await backend.open({ ...CALL, notify: () => undefined });
});
afterEach(async () => {
  for (const program of programs.splice(0)) await program[Symbol.asyncDispose]();
});
afterAll(async () => {
  await backend.close({ graceMs: 1000 });
  await server.destroy();
});

function run(
  name: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Program {
  const program = runProgram(new URL(`../${name}.ts`, import.meta.url), {
    args,
    env: { AMQP_URL: server.url, ...env },
  });
  programs.push(program);
  return program;
}

async function subscribe(...accounts: readonly string[]): Promise<void> {
  expect(await run('subscribe', accounts).exited).toEqual({ code: 0, signal: null });
}

async function counts(): Promise<{ ready: number | null; scheduled: number | null; dead: number | null }> {
  const { ready, scheduled, dead } = await backend.counts('billing', CALL);
  return { ready: ready.value, scheduled: scheduled.value, dead: dead.value };
}

test('what fails is tried again with growing pauses, and the next period waits for a day in the broker', async () => {
  await subscribe('ada', 'flaky-bob');
  const worker = run('worker');
  await Promise.all([
    worker.says('ada: period 1 is paid'),
    worker.says('flaky-bob: period 1, attempt 3'),
    worker.says('flaky-bob: period 1 is paid'),
  ]);
  worker.kill('SIGTERM');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  expect(worker.output()).not.toContain('period 2');
  await expect.poll(counts, { timeout: 20_000 }).toEqual({ ready: 0, scheduled: 2, dead: 0 });
});

test('a stopped worker hands its job back unharmed; from a killed one it comes back charged', async () => {
  await subscribe('slow-eve');
  const stopped = run('worker');
  await stopped.says('slow-eve: period 1, attempt 1');
  stopped.kill('SIGTERM');
  expect(await stopped.exited).toEqual({ code: 0, signal: null });
  expect(stopped.output()).toContain('"abandoned":0');

  const killed = run('worker');
  await killed.says('slow-eve: period 1, attempt 1');
  killed.kill('SIGKILL');
  await killed.exited;

  const last = run('worker', [], { SLOW_MS: '0' });
  await last.says('slow-eve: period 1, attempt 2');
  await last.says('slow-eve: period 1 is paid');
  last.kill('SIGTERM');
  expect(await last.exited).toEqual({ code: 0, signal: null });
});
