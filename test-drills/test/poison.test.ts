import { expect, test } from 'vitest';
import { brokenOf, quickly, saboteur } from './run.ts';

test.each(['sqlite', 'postgres'])('poison holds on %s', { timeout: 300_000 }, async (backend) => {
  const { verdict, figures } = await quickly('poison', backend);
  expect(figures['broken']).toEqual([]);
  expect(verdict).toBe('held');
  // That payloads did kill their workers.
  expect(figures['workersThatDied']).toBeGreaterThanOrEqual(6);
});

test('a store that forgets why a job died is found out', { timeout: 300_000 }, async () => {
  expect(brokenOf(await quickly('poison', 'sqlite', saboteur('drops-error-of-the-dead')))).toContain(
    'dead for its reason',
  );
});
