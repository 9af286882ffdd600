import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { SUITE_NAMES } from '../src/contestants/registry.ts';
import { parseArguments, UsageError } from '../src/parse-arguments.ts';

test('a backend alone means the full bench', () => {
  expect(parseArguments(['postgres'])).toEqual({
    backend: 'postgres',
    report: null,
    options: {
      suites: SUITE_NAMES,
      jobs: 20_000,
      warmUp: 5000,
      rounds: 3,
      concurrency: [1, 10, 100],
      backlog: 1_000_000,
      limitMs: 5000,
    },
  });
});

test('options are taken', () => {
  const sizes = [
    '--jobs',
    '500',
    '--warm-up',
    '40',
    '--rounds=1',
    '--concurrency',
    '7,8',
    '--backlog',
    '9',
    '--limit',
    '99',
  ];
  const { options, report } = parseArguments([
    'sqlite',
    ...sizes,
    '--suite',
    'drain,pickUp',
    '--report',
    'a',
  ]);
  expect(options).toEqual({
    suites: ['drain', 'pickUp'],
    jobs: 500,
    warmUp: 40,
    rounds: 1,
    concurrency: [7, 8],
    backlog: 9,
    limitMs: 99,
  });
  expect(report).toBe('a');
});

const WRONG: readonly (readonly [args: readonly string[], message: string])[] = [
  [[], 'Name a backend.'],
  [['oracle'], "There is no bench for 'oracle'."],
  [['toString'], "There is no bench for 'toString'."],
  [['postgres', 'sqlite'], 'Only one backend'],
  [['postgres', '--fast'], "Unknown option '--fast'"],
  [['postgres', '--jobs'], "Option '--jobs <value>' argument missing"],
  [['postgres', '--jobs', '0'], "--jobs takes whole numbers from 1 to 10000000, not '0'."],
  [['postgres', '--jobs', '1e3'], "not '1e3'"],
  [['postgres', '--suite', 'drain,fast'], "There is no suite 'fast'."],
  [['postgres', '--rounds', '2.5'], "not '2.5'"],
  [['postgres', '--concurrency', '1,,2'], "--concurrency takes whole numbers from 1 to 10000, not ''."],
];

describe('what cannot be done is said in one line', () => {
  test.each(WRONG)('%j', (args, message) => {
    let thrown: unknown;
    try {
      parseArguments(args);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(UsageError);
    const text = (thrown as UsageError).message;
    expect(text).toContain(message);
    expect(text).toContain('Usage: bench <postgres|redis|rabbitmq|sqlite|sqs>');
    expect(text).not.toContain('\n');
  });
});

test('the command ends with 2 and that line', () => {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--conditions=surety-source', main, 'oracle'],
    { encoding: 'utf8' },
  );
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^There is no bench for 'oracle'\. Usage: [^\n]+\n$/);
});
