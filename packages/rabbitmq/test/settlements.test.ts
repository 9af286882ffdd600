import { setTimeout as sleep } from 'node:timers/promises';
import { createWorker, defineJob, handle } from '@surety/core';
import { type RabbitmqServer, startRabbitmq, startTcpProxy, type TcpProxy } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rabbitmq } from '../src/index.ts';
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

/** From the 34th acknowledgement on the broker keeps them to itself until some are written: seen in about half of the attempts. */
const ROUNDS = 10;
const JOBS = 160;
const STEPS = 300;
let server: RabbitmqServer;
let proxy: TcpProxy;
let cutUrl: string;
beforeAll(async () => {
  server = await startRabbitmq();
  proxy = await startTcpProxy({ host: server.host, port: server.port });
  const url = new URL(server.url);
  url.port = String(proxy.port);
  cutUrl = url.href;
});
afterAll(async () => {
  await proxy.close();
  await server.destroy();
});

describe('a settlement that was answered', () => {
  it.each([
    // One of the others is what it gets when it asks whether all is written.
    { named: 'jobs that were asked for', waitMs: 0, more: 3 },
    { named: 'jobs that a consumer brought', waitMs: 500, more: 0 },
  ])('stands when its connection ends right behind the answer: $named', async ({ waitMs, more }) => {
    await using producer = await opened({ url: server.url });
    const queue = freshQueue();
    for (let round = 0; round < ROUNDS; round++) {
      await accept(
        producer,
        Array.from({ length: JOBS + more }, () => newJob(queue)),
      );
      await using worker = await opened({ url: cutUrl });
      const leases = await claimAll(worker, queue, JOBS, waitMs);
      // Every other: they cannot go in one frame.
      const settled = leases.filter((_, n) => n % 2 === 1);
      expect(await complete(worker, settled)).toEqual(settled.map(() => 'settled'));
      proxy.cut();
      await using other = await opened({ url: server.url });
      const back = await claimAll(other, queue, JOBS + more - settled.length);
      const ended = new Set(settled.map(({ id }) => id));
      expect(back.filter(({ id }) => ended.has(id))).toEqual([]);
      const held = new Set(leases.map(({ id }) => id));
      const others = back.filter(({ id }) => !held.has(id));
      expect(others.map(({ attempt, lostClaims }) => [attempt, lostClaims])).toEqual(
        others.map(() => [1, 0]),
      );
      expect(await claim(other, queue, { waitMs: 100 })).toEqual([]);
      await complete(other, back);
    }
  });
});

describe('jobs that end in any order while others come', () => {
  it('are charged nothing for the proof that their settlements are written', async () => {
    const queue = freshQueue();
    const seen: string[] = [];
    const worker = createWorker({
      backend: rabbitmq({ url: server.url }),
      queues: [queue],
      concurrency: 50,
      signals: false,
      log: 'none',
      handlers: [
        handle(defineJob('task', { queue }), async (_input, { attempt }) => {
          seen.push(String(attempt));
          await sleep((seen.length * 7919) % 40);
        }),
      ],
    });
    await worker.start();
    try {
      await using producer = await opened({ url: server.url });
      // Fewer than it could do: it has room all the time, so that what is brought proves nothing.
      for (let n = 0; n < STEPS; n++) {
        await accept(
          producer,
          Array.from({ length: 5 }, () => newJob(queue)),
        );
        await sleep(5);
      }
      await eventually('all have run', async () => seen.length >= STEPS * 5);
    } finally {
      await worker.stop();
    }
    expect(seen).toEqual(Array.from({ length: STEPS * 5 }, () => '1'));
  });
});

describe('a dead letter that was discarded', () => {
  it('stays so when the channel ends right behind the answer', async () => {
    await using backend = await opened({ url: server.url });
    const queue = freshQueue();
    const error = { code: 'HANDLER_FAILED', name: 'Error', message: 'x', stack: null, attempt: 1 };
    for (let round = 0; round < ROUNDS; round++) {
      await accept(
        backend,
        Array.from({ length: JOBS }, () => newJob(queue)),
      );
      const leases = await claimAll(backend, queue, JOBS);
      await backend.settle(
        leases.map((lease) => ({ kind: 'bury', lease, error })),
        CALL,
      );
      const discarded = await backend.deadLetters.discard(queue, { limit: 500, type: null }, CALL);
      expect(discarded).toHaveLength(JOBS);
      expect((await backend.counts(queue, CALL)).dead.value).toBe(0);
    }
  });
});
