import { createMemoryStore, createVirtualClock, memory } from '@surety/memory';
import { expect, test } from 'vitest';
import type { Harness } from '../src/harness.ts';
import { SABOTEURS } from '../src/saboteurs/all.ts';
import { runSaboteurs } from '../src/saboteurs/run-saboteurs.ts';

/** Those that are caught without waiting for anything; `npm run saboteurs` runs all. */
const QUICK = [
  'accepts-late-settle',
  'acknowledges-before-storing',
  'bad-item-fails-batch',
  'charges-release',
  'counts-scheduled-as-ready',
  'dedupe-not-atomic',
  'discard-only-hides',
  'forgets-to-charge-loss',
  'forgets-token',
  'hands-out-early',
  'hands-to-two',
  'ignores-max-depth',
  'ignores-priority',
  'loses-headers-on-retry',
  'pauses-one-process',
  'redrive-doubles',
  'redrive-keeps-attempts',
  'reserialises-payload',
];

test('planted bugs are caught by every case that is named for them', async () => {
  const saboteurs = SABOTEURS.filter(({ id }) => QUICK.includes(id)).map((saboteur) => ({
    ...saboteur,
    // Cases with a real worker take real time.
    mustFail: saboteur.mustFail.filter((id) => id !== 'G10.5/deploys-burn-nothing'),
  }));
  expect(saboteurs.map(({ id }) => id).toSorted()).toEqual(QUICK);
  const catches = await runSaboteurs({ saboteurs, makeHarness: async () => memoryHarness() });
  expect(catches.filter(({ caught }) => !caught)).toEqual([]);
});

test('every saboteur has an id of its own and names a case', () => {
  expect(new Set(SABOTEURS.map(({ id }) => id)).size).toBe(SABOTEURS.length);
  expect(SABOTEURS.length).toBeGreaterThanOrEqual(18);
  expect(SABOTEURS.filter(({ mustFail }) => mustFail.length === 0)).toEqual([]);
});

function memoryHarness(): Harness {
  const clock = createVirtualClock(0);
  const store = createMemoryStore({ clock });
  return {
    name: 'memory',
    variant: null,
    versions: async () => ({}),
    prepare: async () => {},
    destroy: async () => {},
    backend: () => memory({ store }),
    advance: (ms) => clock.advance(ms),
  };
}
