import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchorsOf, linksOf, markdownFiles, ROOT, readPage } from './markdown.ts';

const files = markdownFiles();

/** Why a link of a page leads nowhere; null: it leads somewhere. */
function fault(file: string, target: string): string | null {
  if (/^(https?|mailto):/.test(target)) return null;
  const [path = '', anchor] = decodeURI(target).split('#');
  if (path.startsWith('/')) return 'begins at the root of a server';
  const led = path === '' ? file : normalize(join(dirname(file), path));
  if (led.startsWith('..')) return 'leads out of the repository';
  if (!existsSync(join(ROOT, led))) return `${led} is not there`;
  if (anchor === undefined) return null;
  if (!led.endsWith('.md')) return `${led} is no page and has no anchors`;
  return anchorsOf(readPage(led)).has(anchor) ? null : `${led} has no heading #${anchor}`;
}

test('the pages were found', () => {
  expect(files).toEqual(
    expect.arrayContaining(['README.md', 'packages/docs/README.md', 'packages/docs/guides/postgres.md']),
  );
});

test.for(files)('every link of %s leads somewhere', (file) => {
  const faults = linksOf(readPage(file)).flatMap(({ target, line }) => {
    const why = fault(file, target);
    return why === null ? [] : [`${file}:${line}: ${target}: ${why}`];
  });
  expect(faults).toEqual([]);
});

test('the index leads to every guide, every page of the reference and every example', () => {
  const index = 'packages/docs/README.md';
  const led = new Set(linksOf(readPage(index)).map(({ target }) => normalize(join(dirname(index), target))));
  const wanted = files.filter(
    (file) =>
      /^packages\/docs\/(guides\/)?[^/]+\.md$/.test(file) || /^examples\/[^/]+\/README\.md$/.test(file),
  );
  expect(wanted.filter((file) => file !== index && !led.has(file))).toEqual([]);
});

describe('the checker itself', () => {
  const page = [
    '# A `code` heading: with, marks!',
    '## Twice',
    '## Twice',
    '[a](x.md#twice) and `[not](a-link.md)` and ![b](<y.png> "title")',
    '```md',
    '# no heading',
    '[no](link.md)',
    '```',
    '[c](#twice-1)',
  ].join('\n');

  test('finds links and anchors in prose, and only there', () => {
    expect(linksOf(page)).toEqual([
      { target: 'x.md#twice', line: 4 },
      { target: 'y.png', line: 4 },
      { target: '#twice-1', line: 9 },
    ]);
    expect([...anchorsOf(page)]).toEqual(['a-code-heading-with-marks', 'twice', 'twice-1']);
  });

  test('finds fault with what leads nowhere', () => {
    const from = 'packages/docs/README.md';
    expect(fault(from, 'guides/postgres.md#connections')).toBe(null);
    expect(fault(from, 'guides/postgres.md#no-such-heading')).toMatch(/has no heading/);
    expect(fault(from, 'guides/none.md')).toMatch(/is not there/);
    expect(fault(from, '../../../elsewhere.md')).toMatch(/out of the repository/);
    expect(fault(from, '/packages')).toMatch(/root of a server/);
    expect(fault(from, '../../package.json#L3')).toMatch(/no anchors/);
    expect(fault(from, 'https://example.com/none')).toBe(null);
  });
});
