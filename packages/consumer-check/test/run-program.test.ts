import { expect, test } from 'vitest';
import { runProgram } from '../src/run-program.ts';

const LONG_MS = 60_000;

function run(
  code: string,
  more: { limitMs?: number; stopAfter?: string } = {},
): ReturnType<typeof runProgram> {
  return runProgram(process.execPath, ['-e', code], { cwd: process.cwd(), limitMs: LONG_MS, ...more });
}

test('a program that exits with 0 is ok, with what it printed', async () => {
  expect(await run('console.log(1); console.error(2)')).toEqual({
    ok: true,
    output: expect.stringContaining('1\n'),
  });
});

test('one that exits otherwise, is killed, or is not there has failed', async () => {
  expect(await run('process.exit(3)')).toEqual({ ok: false, output: expect.stringContaining('(exit 3)') });
  expect((await run('setInterval(() => {}, 1000)', { limitMs: 50 })).output).toMatch(/killed after 50 ms/);
  const missing = await runProgram('/nowhere/program', [], { cwd: process.cwd(), limitMs: LONG_MS });
  expect(missing.ok).toBe(false);
});

test('one that is to be stopped must print the text first and then end in order', async () => {
  const stopAfter = 'ready';
  const serve =
    "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000); console.log('ready')";
  expect((await run(serve, { stopAfter })).ok).toBe(true);
  expect((await run("console.log('never')", { stopAfter })).ok).toBe(false);
  expect((await run("setInterval(() => {}, 1000); console.log('ready')", { stopAfter })).ok).toBe(false);
});

test('the program does not see how this repository resolves its sources', async () => {
  process.env['NODE_OPTIONS'] = '--conditions=surety-source';
  try {
    expect((await run('console.log(process.env.NODE_OPTIONS)')).output).toBe('undefined\n');
  } finally {
    delete process.env['NODE_OPTIONS'];
  }
});
