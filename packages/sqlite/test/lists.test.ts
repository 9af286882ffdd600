import { DatabaseSync } from 'node:sqlite';
import type { Lease } from '@surety/core/contract';
import { expect, test } from 'vitest';
import { assemble, type SqliteBackend } from '../src/backend.ts';
import { statements } from '../src/generated/statements.ts';
import { resolveOptions } from '../src/options.ts';
import { account } from './account.ts';
import {
  buried,
  CALL,
  claim,
  claimOne,
  completed,
  freshFile,
  newJob,
  newJobs,
  opened,
  put,
  QUEUE,
  request,
  retried,
  settle,
} from './asking.ts';

interface Set {
  readonly file: string;
  readonly clock: { now: number };
  readonly backend: SqliteBackend;
}

async function onClock(): Promise<Set> {
  const file = freshFile();
  const clock = { now: 1_700_000_000_000 };
  return { file, clock, backend: await opened(assemble(resolveOptions(file), () => clock.now)) };
}

function all(file: string, sql: string): Record<string, unknown>[] {
  const db = new DatabaseSync(file);
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

/** A small generator of its own, so that a failure can be repeated. */
function draws(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Ages as the lists say them, without the short cuts of the adapter. */
function oldestByHand(file: string, now: number): number | null {
  const [row] = all(
    file,
    `select min(due) as due from (select due from surety_ticket union all
       select due from surety_scheduled where due <= ${now} union all
       select until from surety_claim where until <= ${now})`,
  );
  return row?.['due'] === null ? null : now - Number(row?.['due']);
}

test.each([1, 2, 3])('lists and counters agree after anything that can happen (seed %i)', async (seed) => {
  const { file, clock, backend } = await onClock();
  const draw = draws(seed);
  const held: Lease[] = [];
  const take = (): Lease[] => held.splice(draw(held.length + 1), 1 + draw(3));
  const steps: (() => Promise<unknown>)[] = [
    () =>
      put(backend, ...newJobs(1 + draw(4), { priority: draw(4), delayMs: draw(3) === 0 ? draw(5000) : 0 })),
    async () => held.push(...(await claim(backend, { max: 1 + draw(6), leaseMs: 500 + draw(3000) })).leases),
    () => settle(backend, ...take().map(completed)),
    () => settle(backend, ...take().map((lease) => retried(lease, draw(2) * draw(3000)))),
    () => settle(backend, ...take().map(buried)),
    () =>
      settle(
        backend,
        ...take().map((lease) => ({ kind: 'release', lease, delayMs: 0, reason: 'unstarted' }) as const),
      ),
    () => backend.renew(take(), 1000 + draw(3000), CALL),
    async () => backend.settleAndClaim(take().map(completed), request({ max: 3, leaseMs: 1000 })),
    () => backend.deadLetters.redrive(QUEUE, { type: null, limit: draw(3) }, CALL),
    () => backend.deadLetters.discard(QUEUE, { type: null, limit: draw(2) }, CALL),
    async () => void (clock.now += draw(1500)),
  ];
  for (let round = 0; round < 400; round += 1) {
    await steps[draw(steps.length)]?.();
    if (round % 10 !== 0) continue;
    expect(account(file).faults, `round ${round}`).toEqual([]);
    const counts = await backend.counts(QUEUE, CALL);
    expect(counts.oldestReadyAgeMs.value, `round ${round}`).toBe(oldestByHand(file, clock.now));
    const { ready, scheduled, leased, dead } = counts;
    const sum = [ready, scheduled, leased, dead].reduce((total, { value }) => total + (value ?? 0), 0);
    expect(sum).toBe(account(file).jobs);
  }
});

test('a lease of a job that is gone cannot end a later job of the same id', async () => {
  const { backend } = await onClock();
  const [first] = await put(backend, newJob(), newJob());
  const { leases } = await claim(backend, { max: 2 });
  const [old] = leases.filter(({ id }) => id === first?.id);
  if (old === undefined) throw new Error('not claimed');
  expect(await settle(backend, completed(old))).toEqual(['settled']);
  await put(backend, newJob({ id: old.id }));
  const now = await claimOne(backend);
  expect(now).toMatchObject({ id: old.id, token: { fence: old.token.fence } });
  expect(await settle(backend, retried(old), completed(old))).toEqual(['lease-lost', 'lease-lost']);
  expect(await settle(backend, completed({ ...now, token: old.token }))).toEqual(['lease-lost']);
  expect(await settle(backend, completed(now))).toEqual(['settled']);
});

test('a nonce that is used again after its leases ended gives the old ones no new life', async () => {
  const { clock, backend } = await onClock();
  await put(backend, newJob());
  const asked = request({ max: 1, leaseMs: 1000 });
  const [old] = (await backend.claim(asked)).leases;
  clock.now += 1000;
  const [now] = (await backend.claim(asked)).leases;
  if (old === undefined || now === undefined) throw new Error('not claimed');
  expect(now).toMatchObject({ id: old.id, attempt: 2, token: { nonce: old.token.nonce, fence: 2 } });
  expect(await backend.renew([old, now], 1000, CALL)).toMatchObject([
    { status: 'lease-lost' },
    { status: 'renewed' },
  ]);
  expect(await settle(backend, completed(old), completed(now))).toEqual(['lease-lost', 'settled']);
});

test('a renewal of a part keeps the end of its neighbours, and both parts answer to the nonce', async () => {
  const { clock, backend, file } = await onClock();
  await put(backend, ...newJobs(4));
  const asked = request({ max: 4, leaseMs: 1000 });
  const { leases } = await backend.claim(asked);
  expect(await backend.renew(leases.slice(0, 2), 5000, CALL)).toHaveLength(2);
  expect((await backend.claim(asked)).leases.map(({ id }) => id).toSorted()).toEqual(
    leases.map(({ id }) => id).toSorted(),
  );
  clock.now += 1000;
  const renewed = await backend.renew(leases, 5000, CALL);
  expect(renewed.map(({ status }) => status)).toEqual(['renewed', 'renewed', 'lease-lost', 'lease-lost']);
  expect((await claim(backend)).leases).toHaveLength(2);
  expect((await backend.claim(asked)).leases.map(({ id }) => id)).toEqual(
    leases.slice(0, 2).map(({ id }) => id),
  );
  expect(account(file).faults).toEqual([]);
});

test('a job that was only passed back keeps its place; one that wants another try stands in line again', async () => {
  const { clock, backend } = await onClock();
  const jobs: string[] = [];
  for (let at = 0; at < 4; at += 1) {
    clock.now += 10;
    jobs.push(...(await put(backend, newJob())).map(({ id }) => id));
  }
  clock.now += 10;
  const [passedBack, tryAgain] = (await claim(backend, { max: 2 })).leases;
  if (passedBack === undefined || tryAgain === undefined) throw new Error('not claimed');
  await settle(
    backend,
    { kind: 'release', lease: passedBack, delayMs: 0, reason: 'stop' },
    retried(tryAgain),
  );
  const order = (await claim(backend)).leases.map(({ id }) => jobs.indexOf(id));
  expect(order).toEqual([0, 2, 3, 1]);
});

test('a redrive by selection gets on, however many conflicts stand in front', async () => {
  const { clock, backend } = await onClock();
  const key = (name: string) => ({ dedupe: { key: name, windowMs: 1000 } });
  await put(backend, newJob(key('a')), newJob(key('b')), newJob(), newJob());
  for (const lease of (await claim(backend)).leases) await settle(backend, buried(lease));
  clock.now += 1001;
  const holders = await put(backend, newJob(key('a')), newJob(key('b')));
  const redrive = () => backend.deadLetters.redrive(QUEUE, { type: null, limit: 1 }, CALL);
  expect((await redrive()).map(({ status }) => status)).toEqual(['redriven']);
  expect((await redrive()).map(({ status }) => status)).toEqual(['redriven']);
  const [conflict] = await redrive();
  expect(conflict).toMatchObject({ status: 'conflict', of: holders[0]?.id });
});

test('large payloads are claimed in parts, and none is left behind', async () => {
  const { backend } = await onClock();
  for (let at = 0; at < 15; at += 1)
    await put(backend, ...newJobs(4, { payload: `"${'x'.repeat(900_000)}"` }));
  const sizes: number[] = [];
  for (let left = 60; left > 0; ) {
    const { leases } = await claim(backend, { max: 60 });
    sizes.push(leases.length);
    left -= leases.length;
    await settle(backend, ...leases.map(completed));
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(20);
  expect(sizes.length).toBeLessThan(10);
});

test('expired dedupe records end up gone', async () => {
  const { file, clock, backend } = await onClock();
  for (let at = 0; at < 50; at += 1) {
    await put(backend, newJob({ dedupe: { key: `k${at}`, windowMs: 100 } }));
    clock.now += 10;
  }
  expect(all(file, 'select count(*) as n from surety_dedupe')[0]?.['n']).toBeLessThanOrEqual(15);
});

test('no statement walks a table that grows with the jobs', async () => {
  const { file, backend } = await onClock();
  await put(backend, ...newJobs(500));
  // An application may have statistics made of a shared file; the plans must stand with and without.
  for (const analyzed of [false, true]) {
    if (analyzed) all(file, 'analyze');
    for (const [name, sql] of Object.entries(statements)) {
      const plan = all(file, `explain query plan ${sql.replaceAll('?', '1')}`).map(({ detail }) =>
        String(detail),
      );
      const walks = plan.filter((line) =>
        /\bSCAN (?!json_each|q\b|c\b|surety_claim|surety_store|part\b|\(|CONSTANT)/.test(line),
      );
      expect(walks, `${name}, analyzed: ${analyzed}`).toEqual([]);
      expect(
        plan.filter((line) => line.includes('AUTOMATIC')),
        name,
      ).toEqual([]);
    }
  }
});
