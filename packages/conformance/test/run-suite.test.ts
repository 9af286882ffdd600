import { createMemoryStore, createVirtualClock, memory } from '@surety/memory';
import { describe, expect, test } from 'vitest';
import { define } from '../src/case.ts';
import type { Harness } from '../src/harness.ts';
import { runCase } from '../src/run/run-case.ts';
import { runSuite } from '../src/run/run-suite.ts';
import { tableOf } from '../src/run/table.ts';
import { reasonNotToRun } from '../src/run/verdict.ts';
import { override } from '../src/stage/override.ts';
import { conformance } from '../src/vitest.ts';

function harnessOf(extra: Partial<Harness> = {}): Harness {
  const clock = createVirtualClock(0);
  const store = createMemoryStore({ clock });
  return {
    name: 'memory',
    variant: null,
    versions: async () => ({ store: '1' }),
    prepare: async () => {},
    destroy: async () => {},
    backend: () => memory({ store }),
    advance: (ms) => clock.advance(ms),
    ...extra,
  };
}

describe('the verdict', () => {
  const harness = harnessOf();
  const { capabilities } = harness.backend();
  const asking = (hooks: Parameters<typeof define>[0]['hooks']): ReturnType<typeof define> =>
    define({ id: 'G1.1/x', title: '', hooks: hooks ?? [], run: async () => {} });

  test('of a missing hook is not exercised, of an embedded store without a server not applicable', () => {
    expect(reasonNotToRun(asking(['server']), capabilities, harness)?.status).toBe('not-exercised');
    const embedded = harnessOf({ serverless: true });
    expect(reasonNotToRun(asking(['server']), capabilities, embedded)).toEqual({
      status: 'not-applicable',
      reason: 'embedded: no server',
    });
    expect(reasonNotToRun(asking(['elapse']), capabilities, harness)).toBeNull();
  });

  test('of a capability that is not claimed is not applicable, hook or no hook', () => {
    expect(reasonNotToRun(asking(['transaction']), capabilities, harness)?.status).toBe('not-applicable');
    const picky = define({ id: 'G1.1/x', title: '', needs: () => 'not here', run: async () => {} });
    expect(reasonNotToRun(picky, capabilities, harness)?.reason).toBe('not here');
  });
});

describe('a case', () => {
  test('that hangs fails when its time is over, and names its seed', async () => {
    const hanging = define({ id: 'G1.1/x', title: '', timeoutMs: 50, run: () => new Promise(() => {}) });
    const { failure } = await runCase(hanging, harnessOf(), 7);
    expect(failure).toContain('did not end within 50 ms');
    expect(failure).toContain('seed 7');
  });

  test('fails when a backend that it opened cannot be closed', async () => {
    const opening = define({ id: 'G1.1/x', title: '', run: async (ctx) => void (await ctx.openBackend()) });
    const stuck = await runCase(opening, harnessOf(), 7, (backend) =>
      override(backend, { close: () => Promise.reject(new Error('stuck')) }),
    );
    expect(stuck.failure).toContain('stuck');
    expect((await runCase(opening, harnessOf(), 7)).failure).toBeNull();
  });
});

describe('a run', () => {
  test('tells each result, and sums up by promise', async () => {
    const seen: string[] = [];
    const report = await runSuite({
      harness: harnessOf(),
      only: 'G6.5',
      onResult: ({ id }) => void seen.push(id),
    });
    expect(report.totals).toEqual({ proven: 2, notApplicable: 0, notExercised: 0, waived: 0, failed: 0 });
    expect(seen).toEqual(['G6.5/gone', 'G6.5/by-selection']);
    expect(report.complete).toBe(false);
    expect(tableOf(report)).toMatch(/^G6 .*\b2\b/m);
  });

  test('counts a failure as waived only while its waiver holds', async () => {
    const wrap = (backend: ReturnType<Harness['backend']>): typeof backend =>
      override(backend, { counts: () => Promise.reject(new Error('no counts')) });
    const run = async (until: string): Promise<string | undefined> => {
      const waivers = [{ id: 'G5.1/each-state', reason: 'known', until }];
      const report = await runSuite({ harness: harnessOf(), only: 'G5.1/each-state', waivers, wrap });
      return report.cases[0]?.status;
    };
    expect(await run('2999-01-01')).toBe('waived');
    expect(await run('2020-01-01')).toBe('failed');
  });

  test('through a test runner registers what applies and one comparison', async () => {
    const registered = new Map<string, () => Promise<void>>();
    let described = Promise.resolve();
    conformance({
      describe: (_, body) => {
        described = body();
      },
      test: (name, body) => void registered.set(name, body),
      harness: harnessOf({ advance: async () => {} }),
      only: 'G6.5',
    });
    await described;
    expect([...registered.keys()].map((name) => name.split(' ')[0])).toEqual([
      'G6.5/gone',
      'G6.5/by-selection',
      'ends',
    ]);
    for (const body of registered.values()) await body();
  });
});
