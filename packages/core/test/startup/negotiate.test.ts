import { type Capabilities, createClient, type Requirements } from '@surety/core';
import { memory } from '@surety/memory';
import { describe, expect, test } from 'vitest';
import { caught } from '../producer/caught.ts';
import { scriptedBackend } from '../producer/scripted-backend.ts';

function client(requires: unknown, capabilities: Partial<Capabilities> = {}): void {
  createClient({ backend: scriptedBackend({ capabilities }).backend, requires: requires as Requirements });
}

/** A requirement, capabilities that meet it, and those that do not. */
const TABLE: readonly (readonly [
  requires: Requirements,
  meets: readonly Partial<Capabilities>[],
  lacks: readonly Partial<Capabilities>[],
])[] = [
  [{ moves: 'atomic' }, [{ moves: 'atomic' }], [{ moves: 'copy' }]],
  [
    { durability: 'process-crash' },
    [{ durability: 'process-crash' }, { durability: 'fsync' }, { durability: { replicated: 1 } }],
    [{ durability: 'memory' }],
  ],
  [
    { durability: 'fsync' },
    [{ durability: 'fsync' }, { durability: { replicated: 2 } }],
    [{ durability: 'memory' }, { durability: 'process-crash' }],
  ],
  [{ attempts: 'exact' }, [{ attempts: 'exact' }], [{ attempts: 'upper-bound' }]],
  [{ fence: 'monotonic' }, [{ fence: 'monotonic' }], [{ fence: 'none' }]],
  [
    { idempotentEnqueue: 'while-present' },
    [{ idempotentEnqueue: 'while-present' }],
    [{ idempotentEnqueue: 'none' }],
  ],
  [{ claimReplay: true }, [{ claimReplay: true }], [{ claimReplay: false }]],
  [
    { dedupeWindow: '5m' },
    [{ dedupe: { maxWindowMs: 300_000 } }, { dedupe: { maxWindowMs: 300_001 } }],
    [{ dedupe: { maxWindowMs: 299_999 } }, { dedupe: 'none' }],
  ],
  [
    { priority: 3 },
    [{ priority: { levels: 3 } }, { priority: { levels: 4 } }],
    [{ priority: { levels: 2 } }, { priority: 'none' }],
  ],
  [
    { maxDelay: '1d' },
    [{ delay: { maxMs: 86_400_000, granularityMs: 1 } }],
    [{ delay: { maxMs: 86_399_999, granularityMs: 1 } }],
  ],
  [{ maxDepth: 'exact' }, [{ maxDepth: 'exact' }], [{ maxDepth: 'approximate' }, { maxDepth: 'none' }]],
  [{ maxDepth: 'approximate' }, [{ maxDepth: 'exact' }, { maxDepth: 'approximate' }], [{ maxDepth: 'none' }]],
  [
    { counts: 'exact' },
    [{ counts: { ready: 'exact', scheduled: 'exact', leased: 'exact', dead: 'exact' } }],
    (['ready', 'scheduled', 'leased', 'dead'] as const).map((name) => ({
      counts: { ready: 'exact', scheduled: 'exact', leased: 'exact', dead: 'exact', [name]: 'approximate' },
    })),
  ],
  [{ lookup: true }, [{ lookup: true }], [{ lookup: false }]],
  [{ transactional: true }, [{ transactional: true }], [{ transactional: false }]],
  [
    { sessions: 'one-host' },
    [{ sessions: 'one-host' }, { sessions: 'many-hosts' }],
    [{ sessions: 'one-process' }],
  ],
  [
    { sessions: 'many-hosts' },
    [{ sessions: 'many-hosts' }],
    [{ sessions: 'one-process' }, { sessions: 'one-host' }],
  ],
];

describe('requirements, both ways', () => {
  test.each(TABLE)('%o', async (requires, meets, lacks) => {
    for (const capabilities of meets) client(requires, capabilities);
    for (const capabilities of lacks) {
      const error = await caught(() => client(requires, capabilities));
      expect(error).toMatchObject({ code: 'CAPABILITY_MISSING', adapter: 'scripted' });
      expect(error.message).toContain(Object.keys(requires)[0]);
    }
  });

  test('the table above leaves none out', () => {
    const every: Required<Record<keyof Requirements, true>> = {
      moves: true,
      durability: true,
      attempts: true,
      fence: true,
      idempotentEnqueue: true,
      claimReplay: true,
      dedupeWindow: true,
      priority: true,
      maxDelay: true,
      maxDepth: true,
      counts: true,
      lookup: true,
      transactional: true,
      sessions: true,
    };
    expect(new Set(TABLE.flatMap(([requires]) => Object.keys(requires)))).toEqual(
      new Set(Object.keys(every)),
    );
  });

  test('all that is missing is listed at once, and what is there is not', async () => {
    const requires = {
      moves: 'atomic',
      lookup: true,
      claimReplay: true,
      priority: 4,
      maxDelay: '366d',
    } as const;
    const { backend } = scriptedBackend({ capabilities: memory({ profile: 'weak' }).capabilities });
    const error = await caught(() => createClient({ backend, requires }));
    expect(error.message).toContain('requires: moves "atomic", claimReplay true, priority 4, lookup true.');
  });

  test('nothing is required of a requirement that is undefined', () => {
    client({ moves: undefined, lookup: undefined }, { moves: 'copy', lookup: false });
  });

  test.each([
    { moves: 'copy' },
    { moves: null },
    { durability: 'fsynk' },
    { durability: 'memory' },
    { maxDepth: 'none' },
    { sessions: 'one-process' },
    { lookup: false },
    { lookup: 'yes' },
    { counts: 'approximate' },
    { dedupeWindow: 'long' },
    { dedupeWindow: 0 },
    { maxDelay: Number.NaN },
    { priority: 0 },
    { priority: '3' },
    { priority: Number.NaN },
    { speed: 1 },
    [],
    'moves',
  ])('a value that cannot be required is refused, whatever the backend: %o', async (requires) => {
    for (const durability of ['fsync', { replicated: 9 }] as const) {
      expect((await caught(() => client(requires, { durability }))).code).toBe('OPTIONS_INVALID');
    }
  });
});
