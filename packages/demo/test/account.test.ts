import { describe, expect, it } from 'vitest';
import { accountOf, type DeadJob, type Evidence, exitCodeOf } from '../src/account.ts';
import type { Effect } from '../src/effects.ts';

const effect = (key: string, runs = 1): Effect => ({
  key,
  runs,
  firstWorker: 'worker-1',
  lastWorker: 'worker-2',
});
const deadJob = (key: string): DeadJob => ({
  id: `id of ${key}`,
  key,
  type: 'github.push',
  reason: 'PERMANENT_FAILURE',
  error: 'PermanentError: gone',
  attempts: 1,
});

/** Four jobs: three completed, one of them after a second run, and one dead. */
const SOUND: Evidence = {
  enqueued: { accepted: ['a', 'b', 'c', 'd'], repeats: { sent: 2, duplicates: 2 }, refusals: [] },
  counts: { waiting: 0, dead: 1 },
  dead: [deadJob('d')],
  effects: [effect('a'), effect('b', 2), effect('c')],
  poison: new Set(['d']),
  interrupted: ['b', 'd'],
  moves: 'atomic',
};

describe('the account of sound evidence', () => {
  it('adds up', () => {
    const account = accountOf(SOUND);
    expect(account).toEqual({
      accepted: 4,
      completed: 3,
      dead: 1,
      lost: 0,
      effects: 3,
      ranAgain: 1,
      takenOver: 2,
      extraCopies: 0,
      faults: [],
    });
    expect(exitCodeOf(account)).toBe(0);
  });

  it('has copies that the kill explains, where jobs move by copy', () => {
    const twice: Evidence = {
      ...SOUND,
      counts: { waiting: 0, dead: null },
      dead: [deadJob('d'), deadJob('d')],
      moves: 'copy',
    };
    expect(accountOf(twice)).toMatchObject({ dead: 1, extraCopies: 1, completed: 3, faults: [] });
    expect(accountOf({ ...twice, counts: { waiting: 0, dead: 2 } })).toEqual(accountOf(twice));
    const often = { ...twice, dead: Array.from({ length: 7 }, () => deadJob('d')) };
    expect(accountOf(often).faults.join('\n')).toMatch(/dead twice: d/);
    expect(accountOf({ ...twice, interrupted: [] }).faults.join('\n')).toMatch(/dead twice: d/);
  });

  it('takes the listed dead letters where the store cannot count them', () => {
    expect(accountOf({ ...SOUND, counts: { waiting: 0, dead: null } }).faults).toEqual([]);
  });
});

describe('the account of doctored evidence', () => {
  const doctored: readonly (readonly [string, Partial<Evidence>, RegExp])[] = [
    ['an effect was removed', { effects: [effect('a'), effect('b', 2)] }, /lost.*: c\./],
    ['a dead letter was removed', { dead: [], counts: { waiting: 0, dead: 0 } }, /lost.*: d\./],
    ['a job still waits', { counts: { waiting: 1, dead: 1 } }, /still waiting/],
    [
      'an effect was made up',
      { effects: [...SOUND.effects, effect('x')] },
      /without having been accepted: x/,
    ],
    [
      'a dead job has an effect',
      { effects: [...SOUND.effects, effect('d')] },
      /although the effect is there: d/,
    ],
    ['a sound job died', { poison: new Set() }, /without a reason in the input: d/],
    ['a poisonous job went through', { poison: new Set(['c', 'd']) }, /although they could not: c/],
    [
      'a job died twice',
      { dead: [deadJob('d'), deadJob('d')], counts: { waiting: 0, dead: 2 } },
      /dead twice: d/,
    ],
    [
      'the store hides a dead letter',
      { counts: { waiting: 0, dead: 2 } },
      /counts 2 dead letters and lists 1/,
    ],
    [
      'a repeat was stored again',
      { enqueued: { ...SOUND.enqueued, repeats: { sent: 2, duplicates: 1 } } },
      /sent twice only 1/,
    ],
    [
      'a delivery was refused',
      { enqueued: { ...SOUND.enqueued, refusals: ['e: the disk is full'] } },
      /not accepted.*the disk is full/,
    ],
    ['the killed worker was idle', { interrupted: [] }, /held no job/],
  ];

  it.each(doctored)('fails when %s', (_what, change, fault) => {
    const account = accountOf({ ...SOUND, ...change });
    expect(account.faults.join('\n')).toMatch(fault);
    expect(exitCodeOf(account)).toBe(1);
  });

  it('counts what was lost', () => {
    expect(accountOf({ ...SOUND, effects: [effect('a')] }).lost).toBe(2);
  });

  it('does not call lost what still waits', () => {
    const account = accountOf({
      ...SOUND,
      effects: [effect('a'), effect('b')],
      counts: { waiting: 1, dead: 1 },
    });
    expect(account.lost).toBe(0);
    expect(account.faults).toEqual(['1 job is still waiting in the queue.']);
  });
});
