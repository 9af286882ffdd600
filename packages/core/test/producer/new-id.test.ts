import { describe, expect, test, vi } from 'vitest';
import { JOB_ID } from '../../src/contract/index.ts';
import { newId } from '../../src/producer/new-id.ts';

describe('ids that core makes', () => {
  test('are UUIDs of version 7 with the time of their making, each in order behind the one before', () => {
    const before = Date.now();
    const ids = Array.from({ length: 100_000 }, () => newId());
    expect(ids.every((id) => JOB_ID.test(id) && id[14] === '7' && /[89ab]/.test(id[19] ?? ''))).toBe(true);
    expect(ids.every((id, at) => at === 0 || (ids[at - 1] ?? '') < id)).toBe(true);
    const madeAt = Number.parseInt((ids[0] ?? '').replaceAll('-', '').slice(0, 12), 16);
    expect(madeAt).toBeGreaterThanOrEqual(before);
    expect(madeAt).toBeLessThanOrEqual(Date.now());
  });

  test('stay in order when the clock steps back', () => {
    const first = newId();
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    try {
      expect(newId() > first).toBe(true);
    } finally {
      vi.restoreAllMocks();
    }
  });
});
