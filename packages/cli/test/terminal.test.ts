import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { UsageError } from '../src/exit-codes.ts';
import { confirm, requireAnswer } from '../src/terminal/confirm.ts';
import { outputOn } from '../src/terminal/output.ts';
import { clipped, printable } from '../src/terminal/printable.ts';
import { hiderOf } from '../src/terminal/secrets.ts';
import { figure, legend, spellMs } from '../src/terminal/spell.ts';
import { tableLines } from '../src/terminal/table.ts';

function terminal(): PassThrough & { isTTY?: boolean; text(): string } {
  const written: string[] = [];
  const stream = Object.assign(new PassThrough(), { isTTY: true, text: () => written.join('') });
  stream.on('data', (chunk: Buffer) => written.push(chunk.toString()));
  return stream;
}

describe('a question', () => {
  const ask = async (answer: string): Promise<{ agreed: boolean; shown: string }> => {
    const [input, output] = [terminal(), terminal()];
    const asked = confirm('Discard?', false, { input, output });
    input.end(answer);
    return { agreed: await asked, shown: output.text() };
  };

  it.each([
    ['y\n', true],
    ['YES\n', true],
    ['n\n', false],
    ['\n', false],
    ['yesterday\n', false],
    ['', false],
  ])('takes %j as %s', async (answer, agreed) => {
    const asked = await ask(answer);
    expect(asked.agreed).toBe(agreed);
    expect(asked.shown).toContain('Discard? [y/N] ');
  });

  it('is not asked where the answer was given', async () => {
    const [input, output] = [terminal(), terminal()];
    expect(await confirm('Discard?', true, { input, output })).toBe(true);
    expect(output.text()).toBe('');
  });

  it('needs a terminal on both sides', () => {
    const [input, output] = [terminal(), terminal()];
    requireAnswer(false, 'dead discard', { input, output });
    requireAnswer(true, 'dead discard', { input: new PassThrough(), output });
    expect(() => requireAnswer(false, 'dead discard', { input: new PassThrough(), output })).toThrow(
      UsageError,
    );
    expect(() => requireAnswer(false, 'dead discard', { input, output: new PassThrough() })).toThrow(/--yes/);
  });
});

describe('figures', () => {
  it('carry the mark of their kind', () => {
    expect(figure({ value: 3, kind: 'exact' })).toBe('3');
    expect(figure({ value: 3, kind: 'approximate' })).toBe('~3');
    expect(figure({ value: 3, kind: 'lower-bound' })).toBe('>=3');
    expect(figure({ value: 3, kind: 'upper-bound' })).toBe('<=3');
    expect(figure({ value: null, kind: 'exact' })).toBe('-');
    expect(figure({ value: null, kind: 'none' })).toBe('?');
    expect(figure({ value: 90_000, kind: 'approximate' }, spellMs)).toBe('~90 s');
  });

  it('have a legend for what was used, and none where all is exact', () => {
    expect(legend([{ value: 3, kind: 'exact' }])).toBeNull();
    expect(
      legend([
        { value: 3, kind: 'approximate' },
        { value: null, kind: 'none' },
      ]),
    ).toBe('~ approximate, ? not to be had from this store');
  });
});

describe('colours', () => {
  afterEach(() => vi.unstubAllEnvs());

  const coloured = (): string => outputOn(terminal(), terminal(), []).tone('bad', 'dead');

  it('are for terminals', () => {
    vi.stubEnv('NO_COLOR', '');
    vi.stubEnv('TERM', 'xterm');
    expect(coloured()).toBe('\u001b[31mdead\u001b[39m');
    expect(outputOn(new PassThrough(), terminal(), []).tone('bad', 'dead')).toBe('dead');
  });

  it('are left out where NO_COLOR is set', () => {
    vi.stubEnv('TERM', 'xterm');
    vi.stubEnv('NO_COLOR', '1');
    expect(coloured()).toBe('dead');
  });

  it('have no width', () => {
    const tone = (_: string, text: string): string => `<${text}>`;
    const columns = [
      { title: 'A', flush: 'left' },
      { title: 'B', flush: 'right' },
    ] as const;
    expect(tableLines(columns, [[{ text: 'x', tone: 'bad' }, '10']], { tone })).toEqual([
      '<A>  < B>',
      '<x>  10',
    ]);
  });
});

describe('what is shown', () => {
  it('cannot steer the terminal', () => {
    expect(printable('a\u001b[2Jb\r\nc\u202ed\te')).toBe('a\\u001b[2Jb\\u000d\\nc\\u202ed e');
    expect(clipped('0123456789', 5)).toBe('0123…');
  });

  it('holds no password', () => {
    const hide = hiderOf(['postgres://me:s3cr%40t-word@host/db?sslpassword=other-word', null, 'no url']);
    expect(hide('refused s3cr@t-word, s3cr%40t-word and other-word')).toBe('refused ***, *** and ***');
    expect(hide('at postgres://you:unknown@elsewhere/db')).toBe('at postgres://you:***@elsewhere/db');
    expect(hide('at postgres://you:with@sign@elsewhere/db')).toBe('at postgres://you:***@elsewhere/db');
    expect(hide('plain text: a@b')).toBe('plain text: a@b');
  });

  it('fits on one line of standard error', () => {
    const stderr = terminal();
    outputOn(terminal(), stderr, []).error('first\nsecond\r\n  third');
    expect(stderr.text()).toBe('surety: first second third\n');
  });
});
