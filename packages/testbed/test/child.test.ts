import { describe, expect, it } from 'vitest';
import { startChild } from '../src/index.ts';
import { isAlive } from '../src/machine/process-tree.ts';
import { eventually, settlesWithin } from './eventually.ts';

const script = new URL('programs/methods.ts', import.meta.url);

describe('a child', () => {
  it('answers calls, with arguments, conditions and environment as given', async () => {
    await using child = await startChild(script, { args: ['x', 'y'], env: { TESTBED_SAYS: 'hello' } });
    expect(await child.call('add', { a: 2, b: 3 })).toBe(5);
    expect(await child.call('nothing')).toBeUndefined();
    expect(await child.call('seen')).toEqual({
      args: ['x', 'y'],
      conditions: ['--conditions=surety-source'],
      env: 'hello',
    });
  });

  it('answers several calls at a time, each its own', async () => {
    await using child = await startChild(script);
    const slow = child.call('wait', 200);
    expect(await child.call('add', { a: 1, b: 1 })).toBe(2);
    expect(await slow).toBe('waited');
  });

  it('hands on what a method throws', async () => {
    await using child = await startChild(script);
    await expect(child.call('fail')).rejects.toMatchObject({ message: 'as asked', code: 'E_ASKED' });
    await expect(child.call('unheard')).rejects.toThrow('no method unheard');
  });

  it('gives up on a call after its time', async () => {
    await using child = await startChild(script);
    await expect(child.call('wait', 5_000, 100)).rejects.toThrow(/did not answer wait[^]*100 ms/);
    expect(await child.call('add', { a: 1, b: 1 })).toBe(2);
  });

  it('dies of kill9 at once, and its open calls say so with its last words', async () => {
    const child = await startChild(script);
    const open = child.call('wait', 60_000, 30_000);
    const failure = expect(open).rejects.toThrow(/SIGKILL[^]*started/);
    expect(await child.kill9()).toEqual({ code: null, signal: 'SIGKILL' });
    await failure;
    await expect(child.call('nothing')).rejects.toThrow('has ended');
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('tells how it ended by itself', async () => {
    const child = await startChild(script);
    await expect(child.call('exit', 3)).rejects.toThrow(/exit code 3[^]*last words/);
    expect(await child.exited).toEqual({ code: 3, signal: null });
    expect(child.stderrTail).toContain('last words');
  });

  it('does nothing while paused, and can be killed then', async () => {
    const child = await startChild(script);
    child.pause();
    const sum = child.call('add', { a: 1, b: 2 });
    expect(await settlesWithin(sum, 200)).toBe(false);
    child.resume();
    expect(await sum).toBe(3);
    child.pause();
    expect(await child.kill9()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it.each([false, true])('ends when its parent is killed (paused: %s)', async (paused) => {
    const parent = await startChild(new URL('programs/parent.ts', import.meta.url));
    const pid = await parent.call<number>('pidOfChild');
    expect(await isAlive(pid)).toBe(true);
    if (paused) await parent.call('pauseChild');
    await parent.kill9();
    await eventually('it is gone', async () => !(await isAlive(pid)));
  });

  it('ends in good order', async () => {
    const child = await startChild(script);
    expect(await child.end()).toEqual({ code: 0, signal: null });
  });

  it('that breaks before it is ready shows why', async () => {
    const broken = new URL('programs/broken.ts', import.meta.url);
    await expect(startChild(broken)).rejects.toThrow(/before it was ready[^]*broken from the start/);
    const missing = new URL('programs/missing.ts', import.meta.url);
    await expect(startChild(missing)).rejects.toThrow(/ERR_MODULE_NOT_FOUND|Cannot find module/);
  });
});
