import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the example of the README stores a job, works it, and stops in order on SIGTERM', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'surety-quick-start-'));
  const program = new URL('../main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--conditions=surety-source', program], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  try {
    let output = '';
    child.stdout.setEncoding('utf8');
    for await (const chunk of child.stdout) {
      output += String(chunk);
      // Once: a second signal ends the process as it always would.
      if (output.includes('receipt for A-1001') && !child.killed) child.kill('SIGTERM');
    }
    expect(output).toMatch(/^accepted [0-9a-f-]{36}$/m);
    expect(output).toMatch(/receipt for A-1001, attempt 1, key [0-9a-f-]{36}/);
    // The log line of the attempt was buffered, and flushed by the stop.
    expect(output).toMatch(/"outcome":"completed"/);
    expect(await exited).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
});
