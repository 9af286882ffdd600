import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GUARANTEES } from '@surety/core';
import { describe, expect, test } from 'vitest';
import { CASES } from '../src/catalogue.ts';

const SOURCE = join(import.meta.dirname, '../src');

describe('the catalogue of cases', () => {
  test('asks at least one thing for every guarantee that backends must prove', () => {
    const asked = new Set(CASES.map(({ guarantee }) => guarantee));
    const missing = GUARANTEES.filter(({ id, proof }) => proof === 'backend' && !asked.has(id));
    expect(missing.map(({ id }) => id)).toEqual([]);
  });

  test('names only guarantees that exist', () => {
    const known = new Set(GUARANTEES.map(({ id }) => id));
    expect(CASES.filter(({ guarantee }) => !known.has(guarantee)).map(({ id }) => id)).toEqual([]);
  });

  test('has unique ids of one shape', () => {
    const ids = CASES.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^G\d+\.\d+\/[a-z0-9-]+$/.test(id))).toEqual([]);
  });

  test('covers every first-rank failure that a store can be asked about', () => {
    const covered = new Set(CASES.flatMap(({ covers }) => covers));
    // Failures of one broker, of the core alone, and of later rounds are not asked here.
    const asked = [
      'B002',
      'B007',
      'B010',
      'B011',
      'B012',
      'B013',
      'B014',
      'B015',
      'B016',
      'B024',
      'B025',
      'B026',
      'B030',
    ];
    const more = [
      'B032',
      'B037',
      'B038',
      'B039',
      'B041',
      'B042',
      'B046',
      'B047',
      'B048',
      'B056',
      'B058',
      'B059',
      'B067',
    ];
    const rest = [
      'B068',
      'B071',
      'B072',
      'B074',
      'B076',
      'B095',
      'B100',
      'B102',
      'B109',
      'B111',
      'B113',
      'B120',
      'B121',
    ];
    const last = ['B127', 'B129'];
    expect([...asked, ...more, ...rest, ...last].filter((id) => !covered.has(id))).toEqual([]);
  });
});

describe('the sources of the suite', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );

  test('never decide by the name of a backend or a harness', () => {
    const offending = files.flatMap((file) => {
      const text = readFileSync(join(SOURCE, file), 'utf8');
      const reads = text.match(/\b(backend|harness|rival|worker|network|target)\.name\b.*/g) ?? [];
      // The name may be told, in reports and titles.
      return reads
        .filter((line) => !/^harness\.name( : `\$\{harness\.name\} \(|,$)/.test(line))
        .map((line) => `${file}: ${line}`);
    });
    expect(offending).toEqual([]);
  });

  test('import no test runner and nothing but core and node', () => {
    const foreign = files.flatMap((file) => {
      const text = readFileSync(join(SOURCE, file), 'utf8');
      const specifiers = [...text.matchAll(/from '([^']+)'/g)].map((match) => match[1] ?? '');
      return specifiers
        .filter((name) => !/^(\.|node:|@surety\/core(\/|$))/.test(name))
        .map((name) => `${file}: ${name}`);
    });
    expect(foreign).toEqual([]);
  });
});
