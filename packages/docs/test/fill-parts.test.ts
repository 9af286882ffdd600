import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TRANSITIONS } from '@surety/core';
import { describe, expect, test } from 'vitest';
import { fillParts, type Sources } from '../../../scripts/docs/fill-parts.ts';
import { stateDiagram } from '../../../scripts/docs/state-diagram.ts';
import { writtenPages } from '../../../scripts/docs/written-pages.ts';
import { ROOT } from './markdown.ts';

const SOURCE = [
  'before',
  '  // region: one',
  '  if (a) {',
  '    b();',
  '  }',
  '',
  '  // endregion',
  'after',
].join('\n');

function sources(files: Readonly<Record<string, string>>): Sources {
  return {
    read: (path) => {
      const text = files[path];
      if (text === undefined) throw new Error(`no file ${path}`);
      return text;
    },
    link: (path) => `../${path}`,
    generated: { table: () => '| a |' },
  };
}

const fill = (page: string, files: Readonly<Record<string, string>> = { 'a.ts': SOURCE }): string =>
  fillParts(page, sources(files));

describe('parts of a page', () => {
  test('a region comes without its markers, at the left margin, with its source; filling again changes nothing', () => {
    const filled = fill('text\n<!-- code: a.ts#one -->\nold\n\nolder\n<!-- end -->\nmore');
    expect(filled).toBe(
      [
        'text',
        '<!-- code: a.ts#one -->',
        '',
        '```ts',
        'if (a) {',
        '  b();',
        '}',
        '',
        '```',
        '',
        '<sub>[a.ts](../a.ts)</sub>',
        '',
        '<!-- end -->',
        'more',
      ].join('\n'),
    );
    expect(fill(filled)).toBe(filled);
  });

  test('a whole file, a region of SQL, a generated part', () => {
    expect(fill('<!-- code: b.sql -->\n<!-- end -->', { 'b.sql': 'select 1;\n' })).toContain(
      '```sql\nselect 1;\n```',
    );
    const region = '-- region: r\nselect 2;\n-- endregion';
    expect(fill('<!-- code: b.sql#r -->\n<!-- end -->', { 'b.sql': region })).toContain(
      '```sql\nselect 2;\n```',
    );
    expect(fill('<!-- generated: table -->\n<!-- end -->')).toBe(
      '<!-- generated: table -->\n\n| a |\n\n<!-- end -->',
    );
  });

  test.for([
    ['<!-- code: a.ts#none -->\n<!-- end -->', 'a.ts has no region "none"'],
    ['<!-- code: none.ts -->\n<!-- end -->', 'no file none.ts'],
    ['<!-- code: a.exe -->\n<!-- end -->', 'language'],
    ['<!-- code: a.ts#one -->', 'not ended'],
    ['<!-- code: a.ts#one -->\n<!-- generated: table -->\n<!-- end -->', 'not ended'],
    ['<!-- end -->', 'not opened'],
    ['<!-- generated: none -->\n<!-- end -->', 'no generated part'],
  ] as const)('%j is refused', ([page, reason]) => {
    expect(() => fill(page)).toThrow(reason);
  });

  test.for([
    ['// region: r\na', 'not ended'],
    ['// region: r\n// region: s\n// endregion\n// endregion', 'holds another'],
    ['// region: r\n// endregion\n// region: r\n// endregion', 'twice'],
  ] as const)('a source like %j is refused', ([source, reason]) => {
    expect(() => fill('<!-- code: a.ts#r -->\n<!-- end -->', { 'a.ts': source })).toThrow(reason);
  });
});

test('the diagram shows every transition of core, once, and no other', () => {
  const arrows = [...stateDiagram().matchAll(/^ {2}(\S+) --> (\S+): (.+)$/gm)];
  const shown = arrows.flatMap(([, from, to, verbs]) =>
    verbs?.split(', ').map((verb) => [from, to, verb].join(' ')),
  );
  const words: Readonly<Record<string, string>> = { due: 'its time has come', expire: 'its lease has ended' };
  const wanted = TRANSITIONS.map(({ from, to, verb }) =>
    [from === 'new' ? '[*]' : from, to === 'gone' ? '[*]' : to, words[verb] ?? verb].join(' '),
  );
  expect(new Set(shown)).toEqual(new Set(wanted));
  expect(shown).toHaveLength(wanted.length);
});

test('every region of an example is shown by some page', () => {
  const shown = writtenPages(ROOT).flatMap(({ wanted }) =>
    [...wanted.matchAll(/^<!-- code: (\S+#\S+) -->$/gm)].map((match) => match[1]),
  );
  const marked = readdirSync(join(ROOT, 'examples'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|sql)$/.test(file) && !file.includes('node_modules'))
    .flatMap((file) => {
      const text = readFileSync(join(ROOT, 'examples', file), 'utf8');
      return [...text.matchAll(/^\s*(?:\/\/|--) region: (\S+)$/gm)].map(
        (match) => `examples/${file}#${match[1]}`,
      );
    });
  expect(marked.filter((region) => !shown.includes(region))).toEqual([]);
});
