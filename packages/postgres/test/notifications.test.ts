import { randomUUID } from 'node:crypto';
import type { Backend, Notice } from '@surety/core/contract';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import {
  CALL,
  claimAll,
  claimRequest,
  completion,
  connect,
  eventually,
  freshQueue,
  newJob,
  useStore,
} from './store.ts';

const store = useStore();

/** Somebody waits for jobs of the queue, as far as producers can tell. */
function mark(queue: string): Promise<unknown> {
  return store.query("insert into surety.idle_mark (queue, until) values ($1, now() + interval '1 minute')", [
    queue,
  ]);
}

/** Hears all notifications of the database until it is closed. */
async function listen(): Promise<{
  /** All that were sent before the call, in order. */
  heard(): Promise<(string | undefined)[]>;
  close(): Promise<void>;
}> {
  const client = await connect(store.url);
  const payloads: (string | undefined)[] = [];
  client.on('notification', ({ payload }) => payloads.push(payload));
  await client.query('listen "surety_surety"');
  return {
    async heard() {
      const last = randomUUID();
      await store.query('select pg_notify($1, $2)', ['surety_surety', last]);
      await eventually(async () => payloads.includes(last));
      return payloads.filter((payload) => payload !== undefined && payload.length < last.length);
    },
    close: () => client.end(),
  };
}

describe('notifications', () => {
  test('carry the queue and nothing else, whatever is enqueued (B077)', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const ear = await listen();
    for (const kib of [7, 9, 900]) {
      await mark(queue);
      const big = newJob(queue, { payload: JSON.stringify('x'.repeat(kib * 1024)) });
      expect((await backend.enqueue([big], CALL))[0]?.status).toBe('accepted');
    }
    await mark(queue);
    await backend.enqueue(
      Array.from({ length: 500 }, () => newJob(queue)),
      CALL,
    );
    expect(await ear.heard()).toEqual([queue, queue, queue, queue]);
    await ear.close();
  });

  test('are not sent where nobody waits, nor for what is due later', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    const ear = await listen();
    await backend.enqueue([newJob(queue)], CALL);
    await store.query("select surety.enqueue('t', '1', $1)", [queue]);
    await mark(queue);
    await backend.enqueue([newJob(queue, { delayMs: 60_000 })], CALL);
    await store.query("select surety.enqueue('t', '1', $1, delay => '1 minute')", [queue]);
    expect(await ear.heard()).toEqual([]);
    await ear.close();
  });

  test('wake a claim that is about to sleep: none is lost (B077)', async () => {
    const [worker, producer] = [await store.open({ pollMs: 60_000 }), await store.open()];
    const queue = freshQueue();
    await claimAll(worker, queue, { waitMs: 50 });
    // Without a hint each of these would take until the idle mark is renewed.
    for (let round = 0; round < 30; round++) {
      const waiting = worker.claim(claimRequest(queue, { waitMs: 30_000 }));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
      await producer.enqueue([newJob(queue)], CALL);
      const { leases } = await waiting;
      expect(leases).toHaveLength(1);
      await worker.settle(leases.map(completion), CALL);
    }
  });

  test.each([
    ['the role may not', '42501', 'permission denied for function pg_notify'],
    ['its queue is full', '54000', 'too many notifications in the NOTIFY queue'],
  ])('a server that refuses them because %s does not refuse the job (B077)', async (_, state, message) => {
    const notices: Notice[] = [];
    const database = new URL(store.url).pathname.slice(1);
    const queue = freshQueue();
    // Stands before the server's own function for connections made from now on.
    await store.query('create schema if not exists refusing');
    await store.query(
      `create or replace function refusing.pg_notify(text, text) returns void language plpgsql as
       $$ begin raise exception using errcode = '${state}', message = '${message}'; end $$`,
    );
    await store.query(`alter database "${database}" set search_path = refusing, pg_catalog`);
    try {
      const backend = await store.open({}, notices);
      await mark(queue);
      expect(await backend.enqueue([newJob(queue), newJob(queue)], CALL)).toMatchObject([
        { status: 'accepted' },
        { status: 'accepted' },
      ]);
      expect((await backend.counts(queue, CALL)).ready.value).toBe(2);
      expect(notices.map(({ kind }) => kind)).toEqual(['degraded']);
    } finally {
      await store.query(`alter database "${database}" reset search_path`);
    }
  });
});

describe('a burst of enqueues', () => {
  type Enqueue = (queue: string) => Promise<unknown>;
  const ways: [string, () => Promise<{ readonly enqueue: Enqueue; readonly end: () => Promise<void> }>][] = [
    [
      'from TypeScript',
      async () => {
        const backend: Backend = await store.open({ poolSize: 8 });
        return { enqueue: (queue) => backend.enqueue([newJob(queue)], CALL), end: async () => undefined };
      },
    ],
    [
      'from SQL',
      async () => {
        const pool = new pg.Pool({ connectionString: store.url, max: 8 });
        return {
          enqueue: (queue) => pool.query("select surety.enqueue('t', '1', $1)", [queue]),
          end: () => pool.end(),
        };
      },
    ],
  ];

  test.each(ways)('%s sends one notification a mark, however many take part', async (_, open) => {
    const { enqueue, end } = await open();
    const queue = freshQueue();
    const ear = await listen();
    for (let round = 1; round <= 5; round++) {
      await mark(queue);
      await Promise.all(Array.from({ length: 100 }, () => enqueue(queue)));
      expect(await ear.heard()).toHaveLength(round);
    }
    await end();
    await ear.close();
  });

  test.each(ways)(
    '%s at an idle worker: hints are bounded by the time it takes, and no job is missed',
    async (_, open) => {
      const { enqueue, end } = await open();
      const worker = await store.open({ pollMs: 60_000 });
      const queue = freshQueue();
      const ear = await listen();
      const [jobs, lanes] = [1500, 8];
      let done = 0;
      const working = (async () => {
        while (done < jobs) {
          const { leases } = await worker.claim(claimRequest(queue, { waitMs: 60_000, max: 100 }));
          await worker.settle(leases.map(completion), CALL);
          done += leases.length;
        }
      })();
      await eventually(
        async () => (await store.query('select from surety.idle_mark where queue = $1', [queue])).length > 0,
      );
      const startedAt = performance.now();
      await Promise.all(
        Array.from({ length: lanes }, async (_lane, n) => {
          for (let sent = n; sent < jobs; sent += lanes) await enqueue(queue);
        }),
      );
      // The last one too, and not by the look that a waiting worker takes by itself every 2.5 s.
      await working;
      const tookMs = performance.now() - startedAt;
      const { length } = await ear.heard();
      // A hint needs a mark. After a hint the worker makes none for 10 ms; before it hears of it, it may have made one more.
      expect(length).toBeLessThanOrEqual(2 * Math.ceil(tookMs / 10) + 2);
      await end();
      await ear.close();
    },
  );

  test.each(ways)(
    '%s with pauses: each time the worker sleeps, and each time it is woken',
    async (_, open) => {
      const { enqueue, end } = await open();
      const worker = await store.open({ pollMs: 60_000 });
      const queue = freshQueue();
      await claimAll(worker, queue, { waitMs: 50 });
      const tookMs: number[] = [];
      for (let round = 0; round < 60; round++) {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
        const sentAt = performance.now();
        const sending = Promise.all(Array.from({ length: 3 }, () => enqueue(queue)));
        for (let got = 0; got < 3; ) {
          const { leases } = await worker.claim(claimRequest(queue, { waitMs: 60_000 }));
          await worker.settle(leases.map(completion), CALL);
          got += leases.length;
        }
        await sending;
        tookMs.push(performance.now() - sentAt);
      }
      // One that was missed would wait for the next mark, 2.5 s.
      expect(tookMs.filter((ms) => ms > 1500).length).toBeLessThan(6);
      await end();
    },
  );
});

describe('a transaction that goes on for long', () => {
  test('and has taken the mark holds up neither the worker nor its next mark', async () => {
    const worker = await store.open({ pollMs: 200 });
    const producer = await store.open();
    const queue = freshQueue();
    const ear = await listen();
    await claimAll(worker, queue, { waitMs: 50 });
    const old = await connect(store.url);
    await old.query('begin');
    await producer.transactional?.enqueue(old, [newJob(queue)], CALL);
    await old.query("select surety.enqueue('t', '1', $1)", [queue]);
    const work = async (count: number): Promise<void> => {
      for (let got = 0; got < count; ) {
        const { leases } = await worker.claim(claimRequest(queue, { waitMs: 60_000 }));
        await worker.settle(leases.map(completion), CALL);
        got += leases.length;
      }
    };
    const first = work(1);
    await producer.enqueue([newJob(queue)], CALL);
    await first;
    const before = (await ear.heard()).length;
    const second = work(1);
    await eventually(
      async () =>
        (await store.query('select from surety.idle_mark where queue = $1 and xmax = 0', [queue])).length > 0,
    );
    await producer.enqueue([newJob(queue)], CALL);
    await second;
    expect((await ear.heard()).length).toBeGreaterThan(before);
    const third = work(2);
    await old.query('commit');
    await third;
    await old.end();
    await ear.close();
  });

  test('and began before the worker slept is found soon after its commit, though it sent no hint', async () => {
    const worker = await store.open({ pollMs: 60_000 });
    const producer = await store.open();
    const tookMs: number[] = [];
    const client = await connect(store.url);
    for (let round = 0; round < 9; round++) {
      const queue = freshQueue();
      await client.query('begin');
      await producer.transactional?.enqueue(client, [newJob(queue)], CALL);
      const waiting = worker.claim(claimRequest(queue, { waitMs: 60_000 }));
      await eventually(
        async () => (await store.query('select from surety.idle_mark where queue = $1', [queue])).length > 0,
      );
      const endedAt = performance.now();
      await client.query('commit');
      expect((await waiting).leases).toHaveLength(1);
      tookMs.push(performance.now() - endedAt);
    }
    await client.end();
    // By itself a waiting worker looks every 2.5 s here.
    expect(tookMs.toSorted((a, b) => a - b)[4]).toBeLessThan(1500);
  });

  test('on a snapshot of its own age never fails on a mark that was taken meanwhile', async () => {
    const producer = await store.open();
    const queue = freshQueue();
    const ear = await listen();
    await mark(queue);
    for (const level of ['repeatable read', 'serializable']) {
      const clients = await Promise.all([connect(store.url), connect(store.url)]);
      for (const client of clients) {
        await client.query(`begin isolation level ${level}`);
        await client.query('select count(*) from surety.paused');
      }
      await producer.enqueue([newJob(queue)], CALL);
      for (const client of clients) {
        await producer.transactional?.enqueue(client, [newJob(queue)], CALL);
        await client.query("select surety.enqueue('t', '1', $1)", [queue]);
        await client.query('commit');
        await client.end();
      }
      await mark(queue);
    }
    expect((await producer.counts(queue, CALL)).ready.value).toBe(2 * 5);
    expect((await ear.heard()).length).toBeGreaterThanOrEqual(4);
    await ear.close();
  });
});
