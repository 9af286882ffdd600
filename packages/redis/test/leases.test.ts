import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Places } from '../src/claimed-jobs.ts';
import { type Claimed, type Origin, toLeases, toLeasesApart } from '../src/leases.ts';

const NOW = 1_800_000_000_000;
const origin: Origin = { queue: 'q', token: { nonce: randomUUID(), fence: NOW * 1000 }, now: NOW };
const ids = Array.from({ length: 3 }, () => randomUUID());

function body(payload: string, times: unknown = 0): string {
  return `${NOW - 50},1,${JSON.stringify(times)},"mail",0,0,0,0,\n${payload}`;
}

function claimedWith(counters: string): Claimed {
  return { jobs: `${origin.token.fence} ${'1'.repeat(ids.length)} ${ids.join('')}`, counters };
}

function together(...bodies: readonly string[]): string {
  return `[[${bodies.join('],[')}]]`;
}

describe('the leases of a claim', () => {
  test('are the same from one text as from bodies apart', () => {
    const bodies = ['{"n":1}', '[1,[2]]', '"a\\nb"'].map(body);
    const claimed = claimedWith(JSON.stringify([0, [(NOW - 50) * 1000, 2, 5, 1, 4, 3, 1, NOW - 7], 0]));
    const leases = toLeases(claimed, together(...bodies), origin);
    expect(leases?.map(({ id, waitedMs }) => ({ id, waitedMs }))).toEqual(
      ids.map((id) => ({ id, waitedMs: 50 })),
    );
    expect(leases?.[1]).toMatchObject({
      payload: { value: [1, [2]] },
      attempt: 3,
      deliveries: 6,
      lostClaims: 1,
      interruptions: 4,
      redrives: 3,
      lossBackedOff: true,
      unknownTypeForMs: 7,
    });
    expect(leases?.[2]).toMatchObject({
      payload: { value: 'a\nb' },
      attempt: 1,
      deliveries: 1,
      lostClaims: 0,
    });
    expect(toLeasesApart(claimed, bodies, origin)).toEqual(leases);
  });

  test('of a claim made again are those that have not left, at their places', () => {
    const jobs = `${origin.token.fence} 1-2 ${ids.join('')}`;
    const bodies = [body('1'), body('3')];
    const leases = toLeases({ jobs, counters: '' }, together(...bodies), origin);
    expect(leases?.map(({ id, payload }) => [id, payload])).toEqual([
      [ids[0], { value: 1 }],
      [ids[2], { value: 3 }],
    ]);
    expect(leases?.map((lease) => new Places().of(lease))).toEqual([1, 3]);
    expect(toLeasesApart({ jobs, counters: '' }, bodies, origin)).toEqual(leases);
    expect(toLeases({ jobs, counters: '' }, together(...ids.map(() => body('1'))), origin)).toBeNull();
  });

  test('have no counters where no job ever came back', () => {
    const leases = toLeases(claimedWith(''), together(...ids.map(() => body('{}'))), origin);
    expect(leases?.map(({ attempt, redrives }) => [attempt, redrives])).toEqual(ids.map(() => [1, 0]));
  });

  test('were waited for since the jobs were stored, since they were due, or since they came back', () => {
    const came = NOW * 1000 - 20_000;
    const claimed = claimedWith(
      JSON.stringify([0, [came, 1, 1, 0, 0, 0, 0, 0], [came - 4e15, 1, 1, 0, 0, 0, 0, 0]]),
    );
    const bodies = [body('1', [0, NOW - 10]), body('2', [NOW + 5, NOW - 40]), body('3', NOW + 6)];
    const leases = toLeases(claimed, together(...bodies), origin);
    expect(leases?.map(({ waitedMs, expiresInMs }) => [waitedMs, expiresInMs])).toEqual([
      [10, null],
      [20, 5],
      [20, 6],
    ]);
    const again = toLeases(
      claimedWith(JSON.stringify(ids.map(() => [0, 1, 1, 0, 0, 0, 0, 0]))),
      together(...bodies),
      origin,
    );
    expect(again?.map(({ waitedMs }) => waitedMs)).toEqual([10, 40, 50]);
  });

  test.each([
    ['is cut off', '{"n":'],
    ['is nothing', ''],
    ['is more than one', '1,2'],
    ['looks like another job', '1],[2'],
    ['looks like another job of the right length', `1],[${body('2')}`],
  ])('are not read from one text where a payload %s; apart it hides no neighbour', (_, payload) => {
    const bodies = [body('1'), body(payload), body('3')];
    expect(toLeases(claimedWith(''), together(...bodies), origin)).toBeNull();
    const payloads = toLeasesApart(claimedWith(''), bodies, origin).map((lease) => lease.payload);
    expect(payloads).toEqual([{ value: 1 }, { unreadable: expect.any(String) as string }, { value: 3 }]);
  });
});
