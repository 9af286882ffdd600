import { setTimeout as sleep } from 'node:timers/promises';
import type { Notice } from '@surety/core/contract';
import { type RabbitmqCluster, startRabbitmqCluster } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accept, CALL, claimAll, complete, eventually, freshQueue, newJob, opened } from '../backends.ts';
import { runHistory } from '../history.ts';

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

/** Nothing passes the ladder here: what the broker itself moves from queue to queue can stay behind when a leader is lost. */
const NO_DELAY_MS = 0;

describe('a cluster of three', () => {
  it('loses its leader: nothing accepted is lost, and work goes on over the other nodes', async () => {
    const queue = freshQueue();
    await using producer = await opened({ url: urls() });
    const notices: Notice[] = [];
    const notify = (notice: Notice): void => void notices.push(notice);
    await using first = await opened({ url: urls() }, notify);
    await using second = await opened({ url: urls().toReversed() }, notify);
    await accept(producer, [newJob(queue)]);
    await complete(first, await claimAll(first, queue, 1));
    await sleep(2000);
    const told = await runHistory(
      queue,
      producer,
      [first, second],
      notices,
      async (brokerEnds) => {
        await sleep(300);
        const leader = cluster.nodes[await leaderOf(`surety.${queue}`)];
        await brokerEnds(async () => leader?.kill());
        await sleep(3000);
        await leader?.start();
      },
      NO_DELAY_MS,
    );
    expect({ ...told, extra: 0 }).toEqual({ accepted: 1000, lost: [], unexplained: [], extra: 0 });
    expect((await second.counts(queue, CALL)).ready.value).toBe(0);
  }, 180_000);

  it('has its leader moved by restarts, one node after the other: running jobs end, waiting claims go on', async () => {
    const queue = freshQueue();
    await using producer = await opened({ url: urls() });
    const notices: Notice[] = [];
    await using worker = await opened({ url: urls().toReversed() }, (notice) => void notices.push(notice));
    await accept(producer, [newJob(queue)]);
    await complete(worker, await claimAll(worker, queue, 1));
    await sleep(2000);
    const told = await runHistory(
      queue,
      producer,
      [worker],
      notices,
      async (brokerEnds) => {
        for (const node of cluster.nodes) {
          await brokerEnds(() => node.stop());
          await node.start();
        }
      },
      NO_DELAY_MS,
    );
    expect({ ...told, extra: 0 }).toEqual({ accepted: 1000, lost: [], unexplained: [], extra: 0 });
  }, 180_000);
});
