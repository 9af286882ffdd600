import {
  type PostgresServer,
  startPostgres,
  startStandby,
  startTcpProxy,
  type TcpProxy,
} from '@surety/testbed';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgres } from '../src/index.ts';
import { type BusyWorker, startBusyWorker } from './busy-worker.ts';
import { CALL, connect, eventually } from './store.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server.destroy());

/** Runs a command as a superuser, in the database of the jobs. */
async function asAdmin(text: string, on: PostgresServer = server): Promise<pg.QueryResult> {
  const url = new URL(on.adminUrl);
  url.pathname = new URL(on.url).pathname;
  const client = await connect(url.href);
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

/** The sessions of the application's role, whatever they do. */
async function endSessions(on: PostgresServer = server): Promise<void> {
  await asAdmin("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'surety'", on);
}

const LISTENERS = "select from pg_stat_activity where query like 'listen%' and application_name = 'surety'";

/** Nothing lost, nothing started twice, no attempt charged, nothing left over. */
async function expectSound(busy: BusyWorker, url: string): Promise<void> {
  const accepted = await busy.finish();
  expect(accepted.length).toBeGreaterThan(0);
  for (const id of accepted) expect(busy.starts.get(id), id).toEqual([1]);
  expect([...busy.starts.keys()].toSorted()).toEqual(accepted.toSorted());
  const observer = postgres({ url });
  await observer.open({ ...CALL, notify: () => undefined });
  const counts = await observer.counts(busy.queue, CALL);
  await observer.close({ graceMs: 1000 });
  expect([counts.ready, counts.scheduled, counts.leased, counts.dead].map(({ value }) => value)).toEqual([
    0, 0, 0, 0,
  ]);
}

async function behindProxy(run: (url: string, proxy: TcpProxy) => Promise<void>, on = server): Promise<void> {
  await using proxy = await startTcpProxy({ host: on.host, port: on.port });
  const url = new URL(on.url);
  url.port = String(proxy.port);
  await run(url.href, proxy);
}

describe('a busy worker and a busy producer outlive', () => {
  test('orderly restarts, two of them close together (57P01, 57P03, B025)', async () => {
    const busy = await startBusyWorker({ url: server.url });
    await busy.goesOn();
    for (let round = 0; round < 2; round++) {
      await server.restart();
      if (round === 1) await server.restart();
      await busy.goesOn();
    }
    await expectSound(busy, server.url);
  });

  test('a crash of the server', async () => {
    const busy = await startBusyWorker({ url: server.url });
    await busy.goesOn();
    await server.kill();
    await eventually(async () => !busy.health().ok);
    await server.start();
    await busy.goesOn();
    await eventually(async () => busy.health().ok);
    await expectSound(busy, server.url);
  });

  test('the end of all sessions, again and again in the middle of statements (57P01, B024)', async () => {
    const busy = await startBusyWorker({ url: server.url });
    for (let round = 0; round < 15; round++) {
      await busy.goesOn(5);
      await endSessions();
    }
    await busy.goesOn();
    await expectSound(busy, server.url);
  });

  test('connections that are cut and refused for a while', async () => {
    await behindProxy(async (url, proxy) => {
      const busy = await startBusyWorker({ url });
      await busy.goesOn();
      await proxy.refuse();
      proxy.cut();
      await eventually(async () => !busy.health().ok && busy.refusals.has('BACKEND_UNAVAILABLE'));
      await proxy.heal();
      await busy.goesOn();
      await expectSound(busy, url);
    });
  });

  test('connections that fall silent for good: work goes on over new ones (B026)', async () => {
    await behindProxy(async (url, proxy) => {
      const busy = await startBusyWorker({ url });
      await busy.goesOn();
      proxy.blackhole('existing');
      await busy.goesOn();
      await eventually(async () => busy.health().ok);
      // What was held back never arrives.
      proxy.cut();
      await expectSound(busy, url);
    });
  });

  test('what was sent over silent connections arrives late: only what was unknown runs twice', async () => {
    await behindProxy(async (url, proxy) => {
      const busy = await startBusyWorker({ url }, 3000);
      await busy.goesOn();
      proxy.blackhole('existing');
      await busy.goesOn();
      await eventually(async () => busy.uncertain.size > 0);
      await proxy.heal();
      await busy.goesOn();
      // An enqueue that arrives after its repetition was worked off is a new job of the same id; a claim that arrives
      // late is held by nobody until its lease ends, which is charged.
      const accepted = await busy.finish();
      expect(accepted.filter((id) => !busy.starts.has(id))).toEqual([]);
      const twice = accepted.filter((id) => busy.starts.get(id)?.length !== 1);
      expect(twice.filter((id) => !busy.uncertain.has(id))).toEqual([]);
    });
  });

  test('answers that are lost', async () => {
    await behindProxy(async (url, proxy) => {
      const busy = await startBusyWorker({ url });
      await busy.goesOn();
      proxy.dropReplies();
      await eventually(async () => busy.refusals.has('OUTCOME_UNKNOWN'));
      await proxy.heal();
      await busy.goesOn();
      await expectSound(busy, url);
    });
  });

  test('a server with no connection to spare (53300)', async () => {
    const busy = await startBusyWorker({ url: server.url });
    await busy.goesOn();
    await asAdmin('alter role surety connection limit 0');
    await endSessions();
    await eventually(async () => busy.refusals.has('BACKEND_OVERLOADED') && !busy.health().ok);
    await asAdmin('alter role surety connection limit -1');
    await busy.goesOn();
    await expectSound(busy, server.url);
  });

  test('sessions that may only read, as those to a primary that was demoted (25006, B118)', async () => {
    const busy = await startBusyWorker({ url: server.url });
    await busy.goesOn();
    await asAdmin('alter role surety set default_transaction_read_only = on');
    await endSessions();
    await eventually(async () => busy.refusals.has('STORE_READ_ONLY') && !busy.health().ok);
    // From now on new sessions may write. The old ones never will, and nobody ends them.
    await asAdmin('alter role surety reset default_transaction_read_only');
    await busy.goesOn();
    await expectSound(busy, server.url);
  });
});

describe('a failover to a standby behind the same address', () => {
  test.each([
    ['that crashed', async (primary: PostgresServer) => primary.kill()],
    [
      'that lives on and takes no writes any more',
      async (primary: PostgresServer) => {
        await asAdmin('alter system set default_transaction_read_only = on', primary);
        await asAdmin('select pg_reload_conf()', primary);
      },
    ],
  ])('from a primary %s loses nothing and starts nothing twice', async (_, demote) => {
    await using primary = await startPostgres();
    await using standby = await startStandby(primary);
    await behindProxy(async (url, proxy) => {
      const busy = await startBusyWorker({ url });
      await busy.goesOn();
      await demote(primary);
      await standby.promote();
      proxy.redirect({ host: standby.host, port: standby.port });
      await busy.goesOn();
      // Waiting workers hear of the new primary's jobs, not of the old one's.
      await eventually(async () => (await asAdmin(LISTENERS, standby)).rowCount === 1);
      await expectSound(busy, url);
      const [row] = (await asAdmin('select count(*)::int as left from surety.job', standby)).rows;
      expect(row).toEqual({ left: 0 });
    }, primary);
  });
});
