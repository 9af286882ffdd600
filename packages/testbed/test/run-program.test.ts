import { realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { runProgram } from '../src/index.ts';

const speaker = new URL('programs/speaker.ts', import.meta.url);

test('a program gets its arguments, environment and folder, and is heard on both streams', async () => {
  const cwd = await realpath(tmpdir());
  await using program = runProgram(speaker, { cwd, args: ['you'], env: { MOOD: 'glad' } });
  await program.says('hello you glad');
  await program.says(cwd);
  program.kill('SIGTERM');
  expect(await program.exited).toEqual({ code: 3, signal: null });
  await program.says('hello you');
  await expect(program.says('good-bye')).rejects.toThrow(
    /ended without saying "good-bye":\n(.|\n)*hello you/,
  );
});

test('what is not killed by its test is killed when the test lets go', async () => {
  let program: ReturnType<typeof runProgram>;
  {
    await using held = runProgram(speaker, { args: ['nobody'] });
    program = held;
    await held.says('hello nobody');
  }
  expect(await program.exited).toEqual({ code: null, signal: 'SIGKILL' });
});
