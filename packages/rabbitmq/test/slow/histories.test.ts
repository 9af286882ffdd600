import { setTimeout as sleep } from 'node:timers/promises';
import type { Backend, Notice } from '@surety/core/contract';
import { type RabbitmqServer, startRabbitmq, startTcpProxy } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accept, CALL, claimAll, complete, freshQueue, newJob, opened } from '../backends.ts';
import { type History, runHistory } from '../history.ts';

let server: RabbitmqServer;
beforeAll(async () => {
  server = await startRabbitmq();
});
afterAll(() => server.destroy());

async function history(disturb: Parameters<typeof runHistory>[4], url = server.url): Promise<History> {
  const queue = freshQueue();
  const notices: Notice[] = [];
  const notify = (notice: Notice): void => void notices.push(notice);
  await using producer = await opened({ url }, notify);
  await using first = await opened({ url }, notify);
  await using second = await opened({ url }, notify);
  await using third = await opened({ url: server.url }, notify);
  // The topology is older than two seconds before anything is killed.
  await accept(producer, [newJob(queue, { delayMs: 1 })]);
  await complete(first, await claimAll(first, queue, 1));
  await sleep(2000);
  const told = await runHistory(queue, producer, [first, second, third], notices, disturb);
  const counts = await third.counts(queue, CALL);
  expect({ ready: counts.ready.value, scheduled: counts.scheduled.value }).toEqual({
    ready: 0,
    scheduled: 0,
  });
  return told;
}

function expectWhole(told: History): void {
  expect(told.lost).toEqual([]);
  expect(told.unexplained).toEqual([]);
  expect(told.accepted).toBe(1000);
}

/** A thousand jobs each: nothing accepted is lost, every extra copy is explained by a fault of that very job. Together they take 90 s, and minutes on a busy machine. */
describe('under faults', () => {
  it('without any, each job is completed once', async () => {
    const told = await history(async () => undefined);
    expectWhole(told);
    expect(told.extra).toBe(0);
  }, 180_000);

  it('and a copy that no fault explains is found', async () => {
    const queue = freshQueue();
    await using backend = await opened({ url: server.url });
    const twice = new Set<string>();
    const careless: Backend = {
      ...backend,
      async settle(settlements, options) {
        const outcomes = await backend.settle(settlements, options);
        const [done] = settlements.filter(({ kind }) => kind === 'complete');
        if (done === undefined || twice.size > 0) return outcomes;
        twice.add(done.lease.id);
        await accept(backend, [newJob(queue, { id: done.lease.id })]);
        return outcomes;
      },
    };
    const { unexplained, extra } = await runHistory(queue, backend, [careless], [], async () => undefined);
    expect(unexplained.map((story) => story.split(';')[0])).toEqual([...twice]);
    expect(extra).toBe(1);
  }, 180_000);

  it('when connections are closed again and again (B002, B032, B035)', async () => {
    expectWhole(
      await history(async () => {
        for (let n = 0; n < 12; n++) {
          await sleep(150);
          await server.closeConnections();
        }
      }),
    );
  }, 180_000);

  it('when the broker is restarted in good order (B025)', async () => {
    expectWhole(
      await history(async (brokerEnds) => {
        await sleep(300);
        await brokerEnds(() => server.stop());
        await server.start();
      }),
    );
  }, 180_000);

  it('when the broker is killed (B025)', async () => {
    expectWhole(
      await history(async (brokerEnds) => {
        await sleep(300);
        await brokerEnds(() => server.kill());
        await server.start();
      }),
    );
  }, 180_000);

  it('when the broker is short of memory for a while (B043)', async () => {
    expectWhole(
      await history(async () => {
        await sleep(200);
        await server.setMemoryAlarm(true);
        await sleep(3000);
        await server.setMemoryAlarm(false);
      }),
    );
  }, 180_000);

  it('when the network is cut, swallows answers or falls silent (B026, B041)', async () => {
    const proxy = await startTcpProxy({ host: server.host, port: server.port });
    const url = new URL(server.url);
    url.port = String(proxy.port);
    try {
      expectWhole(
        await history(async () => {
          for (let n = 0; n < 8; n++) {
            await sleep(100);
            proxy.cut();
          }
          await sleep(200);
          proxy.dropReplies();
          await sleep(4000);
          await proxy.heal();
          await sleep(300);
          proxy.blackhole('existing');
          await sleep(4000);
          await proxy.heal();
        }, url.href),
      );
    } finally {
      await proxy.close();
    }
  }, 180_000);
});
