import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Origin, toLeases, toLeasesApart } from '../src/leases.ts';

const NOW = 1_800_000_000_000;
const origin: Origin = { queue: 'q', token: { nonce: randomUUID(), fence: NOW * 1000 }, now: NOW };
const ids = Array.from({ length: 3 }, () => randomUUID());
const PLACES = ids.map((_, at) => (NOW - 50) * 1000 + at);

function body(payload: string): string {
  return `${NOW - 50},1,0,"mail",0,0,0,0,\n${payload}`;
}

function factsOf(counters: readonly unknown[] = []): string {
  return JSON.stringify([ids, PLACES, counters]);
}

function together(...bodies: readonly string[]): string {
  return `[[${bodies.join('],[')}]]`;
}

describe('the leases of a claim', () => {
  test('are the same from one text as from bodies apart', () => {
    const bodies = ['{"n":1}', '[1,[2]]', '"a\\nb"'].map(body);
    const facts = factsOf([0, [2, 5, 1, 4, 3, 1, NOW - 7], 0]);
    const leases = toLeases(facts, together(...bodies), origin);
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
    expect(toLeasesApart(facts, bodies, origin)).toEqual(leases);
  });

  test('have no counters where no job ever came back', () => {
    const leases = toLeases(factsOf(), together(...ids.map(() => body('{}'))), origin);
    expect(leases?.map(({ attempt, redrives }) => [attempt, redrives])).toEqual(ids.map(() => [1, 0]));
  });

  test.each([
    ['is cut off', '{"n":'],
    ['is nothing', ''],
    ['is more than one', '1,2'],
    ['looks like another job', '1],[2'],
    ['looks like another job of the right length', `1],[${body('2')}`],
  ])('are not read from one text where a payload %s; apart it hides no neighbour', (_, payload) => {
    const bodies = [body('1'), body(payload), body('3')];
    expect(toLeases(factsOf(), together(...bodies), origin)).toBeNull();
    const payloads = toLeasesApart(factsOf(), bodies, origin).map((lease) => lease.payload);
    expect(payloads).toEqual([{ value: 1 }, { unreadable: expect.any(String) as string }, { value: 3 }]);
  });
});
