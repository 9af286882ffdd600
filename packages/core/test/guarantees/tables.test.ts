import { GUARANTEES, JOB_STATES, PROMISES, TRANSITIONS } from '@surety/core';
import { describe, expect, test } from 'vitest';

describe('the table of guarantees', () => {
  const ids = GUARANTEES.map(({ id }) => id);
  const parts = (id: string): [number, number] => {
    const match = /^G([1-9]\d*)\.([1-9]\d*)$/.exec(id);
    if (match === null) throw new Error(`${id} is no id of a sub-clause.`);
    return [Number(match[1]), Number(match[2])];
  };

  test('ids are well-formed, unique, in order, and belong to a promise', () => {
    expect(new Set(ids).size).toBe(ids.length);
    const ordered = ids.toSorted((left, right) => {
      const [[a, b], [c, d]] = [parts(left), parts(right)];
      return a - c || b - d;
    });
    expect(ids).toEqual(ordered);
    expect(new Set(ids.map((id) => id.split('.')[0]))).toEqual(new Set(Object.keys(PROMISES)));
    expect(Object.keys(PROMISES)).toEqual(Array.from({ length: 10 }, (_, index) => `G${index + 1}`));
  });

  test('numbers run from 1 without a gap', () => {
    for (const promise of Object.keys(PROMISES)) {
      const own = ids.filter((id) => id.startsWith(`${promise}.`)).map((id) => parts(id)[1]);
      expect(own).toEqual(own.map((_, index) => index + 1));
    }
  });

  test('texts say something of their own, without a full stop, and nothing can be changed', () => {
    expect(new Set(GUARANTEES.map(({ text }) => text)).size).toBe(GUARANTEES.length);
    for (const { text, proof } of GUARANTEES) {
      expect(text).toMatch(/^\S.{10,}[^.\s]$/);
      expect(['backend', 'core']).toContain(proof);
    }
    expect(GUARANTEES.every((guarantee) => Object.isFrozen(guarantee))).toBe(true);
    expect([Object.isFrozen(GUARANTEES), Object.isFrozen(PROMISES)]).toEqual([true, true]);
  });
});

describe('the table of transitions', () => {
  const places: readonly string[] = ['new', ...JOB_STATES, 'gone'];

  test('every state is reached and left, by known places only, each move once', () => {
    for (const state of JOB_STATES) {
      expect(
        TRANSITIONS.some(({ to }) => to === state),
        `reached: ${state}`,
      ).toBe(true);
      expect(
        TRANSITIONS.some(({ from }) => from === state),
        `left: ${state}`,
      ).toBe(true);
    }
    for (const { from, to } of TRANSITIONS) {
      expect(places).toContain(from);
      expect(places).toContain(to);
      expect(from).not.toBe('gone');
      expect(to).not.toBe('new');
    }
    const written = TRANSITIONS.map(({ verb, from, to }) => `${verb} ${from} ${to}`);
    expect(new Set(written).size).toBe(written.length);
  });

  test('every state leads to an end, and death only to an operator', () => {
    const reachable = (from: string, seen = new Set<string>()): ReadonlySet<string> => {
      for (const move of TRANSITIONS) {
        if (move.from !== from || seen.has(move.to)) continue;
        seen.add(move.to);
        reachable(move.to, seen);
      }
      return seen;
    };
    for (const state of ['new', ...JOB_STATES]) expect(reachable(state)).toContain('gone');
    const afterDeath = TRANSITIONS.filter(({ from }) => from === 'dead').map(({ verb }) => verb);
    expect(afterDeath).toEqual(['redrive', 'discard']);
  });

  test('nothing can be changed', () => {
    expect([TRANSITIONS, ...TRANSITIONS].every((part) => Object.isFrozen(part))).toBe(true);
  });
});
