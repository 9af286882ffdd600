import { expect, test } from 'vitest';
import { brokenOf, quickly, saboteur } from './run.ts';

test.each(['sqlite', 'postgres'])('deliver-twice holds on %s', { timeout: 240_000 }, async (backend) => {
  const { verdict, figures } = await quickly('deliver-twice', backend);
  expect(figures['broken']).toEqual([]);
  expect(verdict).toBe('held');
  expect(figures['at once']).toMatchObject({ jobs: 9, runs: 18, sideEffects: 9 });
});

test('a store that makes keys anew is found out by its second effect', { timeout: 240_000 }, async () => {
  expect(brokenOf(await quickly('deliver-twice', 'sqlite', saboteur('new-key-per-delivery')))).toContain(
    'reference: one side effect each',
  );
});
