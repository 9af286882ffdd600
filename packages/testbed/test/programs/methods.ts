import { setTimeout as sleep } from 'node:timers/promises';
import { serveChild } from '../../src/index.ts';

console.error('started');
serveChild({
  add: ({ a, b }: { a: number; b: number }) => a + b,
  seen: () => ({
    args: process.argv.slice(2),
    conditions: process.execArgv,
    env: process.env['TESTBED_SAYS'],
  }),
  nothing: () => undefined,
  fail: () => {
    throw Object.assign(new Error('as asked'), { code: 'E_ASKED' });
  },
  wait: (ms: number) => sleep(ms, 'waited'),
  exit: (code: number) => {
    console.error('last words');
    process.exit(code);
  },
});
