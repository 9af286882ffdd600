import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { differences, readExpected, writeExpected } from '../src/run/expected.ts';
import { type Report, totalsOf } from '../src/run/report.ts';
import { type CaseResult, type Status, waiverOf } from '../src/run/verdict.ts';

const folder = mkdtempSync(join(tmpdir(), 'surety-expected-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function reportOf(statuses: Readonly<Record<string, Status>>, complete = true): Report {
  const cases = Object.entries(statuses).map(
    ([id, status]): CaseResult => ({ id, guarantee: id.split('/')[0] ?? '', status, reason: null, ms: 1 }),
  );
  return { complete, cases, totals: totalsOf(cases) } as unknown as Report;
}

describe('the expected file', () => {
  const before = reportOf({ 'G1.1/a': 'proven', 'G10.1/b': 'not-applicable', 'G2.1/c': 'proven' });
  const file = join(folder, 'expected.json');

  test('is written in the order of the guarantees and read back', () => {
    writeExpected(file, before);
    const expected = readExpected(file);
    expect(Object.keys(expected?.cases ?? {})).toEqual(['G1.1/a', 'G2.1/c', 'G10.1/b']);
    expect(expected?.totals).toEqual({ proven: 2, notApplicable: 1, notExercised: 0, waived: 0, failed: 0 });
    expect(readExpected(join(folder, 'missing.json'))).toBeNull();
  });

  test('shows a case that left proven, a new one, and one that vanished', () => {
    const expected = {
      totals: before.totals,
      cases: { 'G1.1/a': 'proven', 'G10.1/b': 'not-applicable', 'G2.1/c': 'proven' },
    } as const;
    expect(differences(before, expected)).toEqual([]);
    const after = reportOf({ 'G1.1/a': 'not-exercised', 'G10.1/b': 'not-applicable', 'G9.9/new': 'proven' });
    expect(differences(after, expected)).toEqual([
      'G1.1/a is not-exercised, expected was proven',
      'G9.9/new is proven, and unknown to the expected file',
      'G2.1/c was not asked',
      '1 proven, expected were 2',
    ]);
  });

  test('misses nothing that a quick run did not ask', () => {
    const expected = { totals: before.totals, cases: { 'G1.1/a': 'proven', 'G2.1/c': 'proven' } } as const;
    expect(differences(reportOf({ 'G1.1/a': 'proven' }, false), expected)).toEqual([]);
  });
});

test('a waiver holds until its day, and for its case only', () => {
  const waivers = [{ id: 'G1.1/a', reason: 'known', until: '2026-03-01' }];
  expect(waiverOf('G1.1/a', waivers, '2026-03-01')?.reason).toBe('known');
  expect(waiverOf('G1.1/a', waivers, '2026-03-02')).toBeNull();
  expect(waiverOf('G1.1/b', waivers, '2026-01-01')).toBeNull();
});
