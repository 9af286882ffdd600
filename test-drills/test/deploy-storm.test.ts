import { expect, test } from 'vitest';
import { brokenOf, quickly, saboteur } from './run.ts';

test('deploy-storm holds on sqlite', { timeout: 240_000 }, async () => {
  const { verdict, figures } = await quickly('deploy-storm', 'sqlite');
  expect(figures['broken']).toEqual([]);
  expect(verdict).toBe('held');
  expect(figures['interrupted']).toBeGreaterThan(0);
});

test('a store that charges releases is found out', { timeout: 240_000 }, async () => {
  const broken = brokenOf(await quickly('deploy-storm', 'sqlite', saboteur('charges-release')));
  expect(broken).toContain('no attempt was burnt');
});
