import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type * as Testbed from '../src/index.ts';

// The benchmark runs built files, so that no measured process strips types: what a server of the testbed starts has to be built too.
it('a server that is a program of ours starts from the built package', { timeout: 120_000 }, async () => {
  const tsc = fileURLToPath(new URL('../bin/tsc', import.meta.resolve('typescript')));
  const root = fileURLToPath(new URL('..', import.meta.url));
  await promisify(execFile)(process.execPath, [createRequire(import.meta.url).resolve(tsc), '-b', root]);
  const built = (await import(new URL('../dist/index.js', import.meta.url).href)) as typeof Testbed;
  const server = await built.startSqs({ durable: false });
  const answer = await fetch(server.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.ListQueues' },
    body: '{}',
  });
  await server.destroy();
  expect(answer.status).toBe(200);
});
