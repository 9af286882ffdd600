import { expect, test } from 'vitest';
import { brokenOf, planted, quickly, saboteur } from './run.ts';

test.each(['sqlite', 'postgres'])('kill-worker holds on %s', { timeout: 240_000 }, async (backend) => {
  const { verdict, figures } = await quickly('kill-worker', backend);
  expect(figures['broken']).toEqual([]);
  expect(verdict).toBe('held');
  // That workers did go with jobs in their hands.
  expect(figures['jobsTakenOver']).toBeGreaterThanOrEqual(15);
});

test('a store that removes jobs at the claim is found out', { timeout: 240_000 }, async () => {
  expect(brokenOf(await quickly('kill-worker', 'sqlite', saboteur('pops-on-claim')))).toContain(
    'killed right after the claim',
  );
});

test('a store without a fence is found out', { timeout: 240_000 }, async () => {
  expect(brokenOf(await quickly('kill-worker', 'sqlite', planted('no-fence')))).toContain(
    'the late worker is fenced',
  );
});
