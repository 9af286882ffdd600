import { describe, expect, it } from 'vitest';
import { progressOn } from '../src/progress.ts';

function record(isTTY: boolean): {
  readonly output: Parameters<typeof progressOn>[0];
  readonly text: () => string;
} {
  const written: string[] = [];
  const write = (chunk: string | Uint8Array): boolean => written.push(String(chunk)) > 0;
  return { output: { write, isTTY, columns: 40 }, text: () => written.join('') };
}

describe('progress', () => {
  it('rewrites one line on a terminal, within its width, and clears it before a line that stays', () => {
    const { output, text } = record(true);
    const progress = progressOn(output);
    progress.update('x'.repeat(100));
    progress.step('done', 'all of it');
    const [rewritten, kept] = text().split('\r\u001b[2K').slice(1);
    expect(rewritten).toHaveLength(39);
    expect(rewritten).not.toContain('\n');
    expect(kept).toMatch(/^ +\d\.\d s {2}done +all of it\n$/);
  });

  it('writes no control characters elsewhere, and not every update', () => {
    const { output, text } = record(false);
    const progress = progressOn(output);
    for (let i = 0; i < 100; i += 1) progress.update('on the way');
    progress.print(['one', 'two']);
    expect(text()).toBe('one\ntwo\n');
  });
});
