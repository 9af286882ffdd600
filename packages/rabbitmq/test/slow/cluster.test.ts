import { setTimeout as sleep } from 'node:timers/promises';
import type { Notice } from '@surety/core/contract';
import { type RabbitmqCluster, startRabbitmqCluster } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accept, CALL, claimAll, complete, eventually, freshQueue, newJob, opened } from '../backends.ts';
import { type History, runHistory } from '../history.ts';

let cluster: RabbitmqCluster;
beforeAll(async () => {
  cluster = await startRabbitmqCluster();
});
afterAll(() => cluster.destroy());

const urls = (): readonly string[] => cluster.nodes.map(({ url }) => url);

/** The place of the node that leads; waits for one to be elected. */
function leaderOf(queue: string): Promise<number> {
  return eventually('a leader', async () => 1 + (await cluster.leaderOf(queue))).then((place) => place - 1);
}

/** Also for what was on its way through the delays when a leader was lost. */
const SOON_MS = 30_000;

function expectWhole(told: History): void {
  expect(told.lost).toEqual([]);
  expect(told.unexplained).toEqual([]);
  expect(told.accepted).toBe(1000);
  expect(told.restMs).toBeLessThan(SOON_MS);
}

describe('a cluster of three', () => {
  it('loses its leader: nothing accepted is lost, and work goes on over the other nodes', async () => {
    const queue = freshQueue();
    const notices: Notice[] = [];
    const notify = (notice: Notice): void => void notices.push(notice);
    await using producer = await opened({ url: urls() }, notify);
    await using first = await opened({ url: urls() }, notify);
    await using second = await opened({ url: urls().toReversed() }, notify);
    await accept(producer, [newJob(queue, { delayMs: 1 })]);
    await complete(first, await claimAll(first, queue, 1));
    await sleep(2000);
    const told = await runHistory(queue, producer, [first, second], notices, async (brokerEnds) => {
      await sleep(300);
      const leader = cluster.nodes[await leaderOf(`surety.${queue}`)];
      await brokerEnds(async () => leader?.kill());
      await sleep(3000);
      await leader?.start();
    });
    expectWhole(told);
    expect((await second.counts(queue, CALL)).ready.value).toBe(0);
  }, 180_000);

  it('has its leader moved by restarts, one node after the other: running jobs end, waiting claims go on', async () => {
    const queue = freshQueue();
    const notices: Notice[] = [];
    const notify = (notice: Notice): void => void notices.push(notice);
    await using producer = await opened({ url: urls() }, notify);
    await using worker = await opened({ url: urls().toReversed() }, notify);
    await accept(producer, [newJob(queue, { delayMs: 1 })]);
    await complete(worker, await claimAll(worker, queue, 1));
    await sleep(2000);
    const told = await runHistory(queue, producer, [worker], notices, async (brokerEnds) => {
      for (const node of cluster.nodes) {
        await brokerEnds(() => node.stop());
        await node.start();
      }
    });
    expectWhole(told);
  }, 180_000);
});
