import { describe, expect, test } from 'vitest';
import type { Lease } from '../../src/contract/index.ts';
import type { Handler } from '../../src/definition/handle.ts';
import { Attempt } from '../../src/worker/attempt.ts';
import type { Lane } from '../../src/worker/lane.ts';
import { LeaseGroup } from '../../src/worker/lease-group.ts';
import { RunningAttempts } from '../../src/worker/running-attempts.ts';

const ZOMBIE_MS = 1000;
const TIMEOUT_MS = 60_000;
const HANDLER = { definition: { timeoutMs: TIMEOUT_MS } } as Handler;

function running(): RunningAttempts {
  return new RunningAttempts(100, ZOMBIE_MS, { graceOver: () => undefined, givenUp: () => undefined });
}

function laneOf(queue: string): Lane {
  return { queue, running: 0 } as Lane;
}

function attemptOf(id: string): Attempt {
  const group = new LeaseGroup({ leasedAt: 0 }, 30_000, 0);
  return new Attempt({ id } as Lease, group, HANDLER, 0);
}

describe('running attempts', () => {
  test('leave in any order, each from its own lane', () => {
    const all = running();
    const lanes = [laneOf('a'), laneOf('b'), laneOf('c')];
    const attempts = lanes.map(({ queue }) => attemptOf(queue));
    for (const [n, attempt] of attempts.entries()) all.enter(attempt, lanes[n] as Lane, TIMEOUT_MS, 0);
    const [first, second, third] = attempts as [Attempt, Attempt, Attempt];
    all.leave(first);
    all.leave(first);
    expect(new Map(all.entries())).toEqual(
      new Map([
        [second, lanes[1]],
        [third, lanes[2]],
      ]),
    );
    all.becomeZombie(third, 0);
    all.leave(third);
    expect(lanes.map((lane) => lane.running)).toEqual([0, 1, 0]);
    expect([all.active, all.slots]).toEqual([1, 2]);
    all.leave(second);
    expect(all.zombieReturned(third)).toBe(true);
    expect([all.active, all.slots, all.entries()]).toEqual([0, 0, []]);
  });
});
