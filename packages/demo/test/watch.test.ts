import { describe, expect, it } from 'vitest';
import type { QueueLook } from '../src/read-store.ts';
import { Watch } from '../src/watch.ts';

/** A store that shows one look after another, and the last one from then on. */
function watchOf(looks: readonly Partial<QueueLook>[], { effects = 8, copies = 0 } = {}) {
  const steps: string[] = [];
  let lists = 0;
  let at = 0;
  const watch = new Watch({
    observer: {
      look: () => {
        const look = looks[Math.min(at++, looks.length - 1)];
        return Promise.resolve({ ready: 0, scheduled: 0, leased: null, dead: 0, waiting: 0, ...look });
      },
      extraCopies: () => {
        lists += 1;
        return Promise.resolve(copies);
      },
    },
    effects: { count: () => effects },
    progress: { step: (name) => void steps.push(name), update: () => undefined },
    total: 10,
  });
  return { watch, steps, looked: () => at, lists: () => lists };
}

const ended = (waiting: number): boolean => waiting === 0;

describe('the watch', () => {
  it('takes what is leased from the store that tells it', async () => {
    const { watch, looked, lists } = watchOf([{ leased: 1, waiting: 1 }, { leased: 0 }]);
    await watch.until(ended);
    expect([looked(), lists()]).toEqual([2, 0]);
  });

  it('takes for running what has neither had an effect nor died, where the store does not', async () => {
    const { watch, looked } = watchOf([{ dead: 1 }, { dead: 2 }]);
    await watch.until(ended);
    expect(looked()).toBe(2);
  });

  it('does not take a second copy of a dead letter for the job that still runs', async () => {
    const { watch, looked, lists, steps } = watchOf([{ dead: 1 }, { dead: 2 }, { dead: 2 }, { dead: 3 }], {
      copies: 1,
    });
    await watch.until(ended);
    expect([looked(), lists()]).toEqual([4, 2]);
    expect(steps).toEqual([]);
  });

  it('does not let a job that waits count as ended, whatever the dead letters are', async () => {
    const { watch, looked } = watchOf([{ dead: 3, waiting: 1 }, { dead: 2 }]);
    await watch.until(ended);
    expect(looked()).toBe(2);
  });
});
