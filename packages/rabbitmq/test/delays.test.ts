import { setTimeout as sleep } from 'node:timers/promises';
import type { Backend } from '@surety/core/contract';
import { type RabbitmqServer, startRabbitmq } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCall } from '../src/call.ts';
import { BrokerClock, ClockBounds } from '../src/delays/broker-clock.ts';
import { resolveOptions } from '../src/options.ts';
import { Line } from '../src/wire/line.ts';
import { openWire } from '../src/wire/open-wire.ts';
import {
  accept,
  CALL,
  claim,
  claimAll,
  complete,
  eventually,
  freshQueue,
  newJob,
  opened,
} from './backends.ts';

let server: RabbitmqServer;
beforeAll(async () => {
  server = await startRabbitmq();
});
afterAll(() => server.destroy());

/** Claims all and tells how late each was, by its delay. */
async function lateness(
  backend: Backend,
  queue: string,
  delays: ReadonlyMap<string, number>,
  sentAt: number,
): Promise<number[]> {
  const late: number[] = [];
  while (late.length < delays.size) {
    const leases = await claim(backend, queue, { max: 50, waitMs: 20_000 });
    if (leases.length === 0) throw new Error(`came: ${late.length} of ${delays.size}`);
    const now = performance.now();
    for (const { id } of leases) late.push(now - sentAt - (delays.get(id) ?? 0));
    await complete(backend, leases);
  }
  return late.sort((a, b) => a - b);
}

describe('delayed jobs', () => {
  it('are never early, and soon there', async () => {
    const queue = freshQueue();
    await using producer = await opened({ url: server.url, queues: [queue] });
    await using worker = await opened({ url: server.url, queues: [queue] });
    await accept(producer, [newJob(queue, { delayMs: 1 })]);
    await complete(worker, await claimAll(worker, queue, 1));
    const jobs = Array.from({ length: 400 }, () =>
      newJob(queue, { delayMs: Math.ceil(Math.random() * 3000) }),
    );
    const sentAt = performance.now();
    await accept(producer, jobs);
    const delays = new Map(jobs.map(({ id, delayMs }) => [id, delayMs]));
    const late = await lateness(worker, queue, delays, sentAt);
    expect(late[0]).toBeGreaterThanOrEqual(0);
    // 20 to 46 ms, where nothing else is done meanwhile.
    expect(late[200]).toBeLessThan(2000);
  });

  it('are counted while they wait, and stay where they are', async () => {
    const queue = freshQueue();
    await using backend = await opened({ url: server.url, queues: [queue] });
    await accept(
      backend,
      [10_000, 60_000, 3_600_000].map((delayMs) => newJob(queue, { delayMs })),
    );
    await eventually(
      'all are counted',
      async () => (await backend.counts(queue, CALL)).scheduled.value === 3,
    );
    expect(await claim(backend, queue, { waitMs: 1000 })).toEqual([]);
  });

  it('are moved by another process when the one that did has gone, in order or not', async () => {
    const queue = freshQueue();
    await using last = await opened({ url: server.url, queues: [queue] });
    const first = await opened({ url: server.url, queues: [queue] });
    await accept(last, [newJob(queue, { delayMs: 1500 }), newJob(queue, { delayMs: 4000 })]);
    await first.close({ graceMs: 2000 });
    await complete(last, await claimAll(last, queue, 1));
    await server.closeConnections();
    await claimAll(last, queue, 1);
  });
});

describe('delayed jobs of a queue that no process works with', () => {
  it('wait, counted as scheduled, and are ready soon after a process meets the queue, be it a producer', async () => {
    const queue = freshQueue();
    const delayMs = 4000;
    const first = await opened({ url: server.url });
    await accept(first, [newJob(queue, { delayMs })]);
    const acceptedAt = performance.now();
    await first.close({ graceMs: 500 });
    await using watcher = await opened({ url: server.url });
    const counted = async (): Promise<readonly (number | null)[]> => {
      const { ready, scheduled } = await watcher.counts(queue, CALL);
      return [ready.value, scheduled.value];
    };
    await sleep(acceptedAt + delayMs + 500 - performance.now());
    expect(await counted()).toEqual([0, 1]);
    await using producer = await opened({ url: server.url, queues: [queue] });
    await eventually('it is ready', async () => (await counted())[0] === 1);
    expect(await counted()).toEqual([1, 0]);
    expect(producer.health().lastClaimOkAgoMs).toBeNull();
  });
});

describe('the clock of the broker', () => {
  it('is known to within some ms', async () => {
    const options = resolveOptions({ url: server.url });
    const line = new Line(() => openWire(server.url, options, 'test'), {
      up: async () => undefined,
      down: () => undefined,
    });
    const clock = new BrokerClock(line);
    try {
      await clock.known(startCall('open', CALL));
      // The broker of the test has the clock of the test.
      for (let n = 0; n < 20; n++) {
        const [earliest, now, latest] = [clock.earliest(), Date.now(), clock.latest()];
        expect(earliest).toBeLessThanOrEqual(now + 1);
        expect(latest).toBeGreaterThanOrEqual(now - 1);
        expect(latest - earliest).toBeLessThan(1000);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await eventually('it gets finer', async () => clock.latest() - clock.earliest() < 40, 30_000);
    } finally {
      clock.stop();
      await line.close(performance.now() + 1000);
    }
  });

  it('is narrowed by each reading, grows with time, and begins anew where it was set', () => {
    const bounds = new ClockBounds();
    expect(bounds.width(0)).toBe(Number.POSITIVE_INFINITY);
    bounds.add({ from: 0, to: 2, second: 50 });
    expect(bounds.at(2)).toEqual({ low: 49_998, high: 51_000 });
    bounds.add({ from: 500, to: 502, second: 51 });
    expect(bounds.at(502).low).toBeCloseTo(50_498, 0);
    bounds.add({ from: 480, to: 482, second: 50 });
    expect(bounds.width(502)).toBeLessThan(25);
    expect(bounds.width(100_502)).toBeCloseTo(bounds.width(502) + 40, 0);
    bounds.add({ from: 100_600, to: 100_602, second: 20 });
    expect(bounds.at(100_602)).toEqual({ low: 20_000 - 100_602, high: 21_000 - 100_600 });
  });
});
