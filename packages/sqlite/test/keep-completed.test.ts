import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { assemble } from '../src/backend.ts';
import { resolveOptions } from '../src/options.ts';
import {
  CALL,
  claimOne,
  completed,
  freshFile,
  newJob,
  opened,
  put,
  QUEUE,
  retried,
  settle,
} from './asking.ts';

const kept = (file: string): unknown => {
  const db = new DatabaseSync(file);
  try {
    return db.prepare('select count(*) as n from surety_finished').get()?.['n'];
  } finally {
    db.close();
  }
};

test('records of ended jobs are found for their time, and end up gone', async () => {
  const file = freshFile();
  const clock = { now: 1_700_000_000_000 };
  const backend = await opened(assemble(resolveOptions({ file, keepCompletedMs: 60_000 }), () => clock.now));
  const find = (id: string) => backend.lookup?.find(QUEUE, id, CALL);
  const [first, second] = await put(backend, newJob({ headers: { a: 'b' } }), newJob());
  await settle(backend, retried(await claimOne(backend)));
  const leases = [await claimOne(backend), await claimOne(backend)];
  const [done, cancelled] = leases.toSorted((a) => (a.id === first?.id ? -1 : 1));
  if (done === undefined || cancelled === undefined) throw new Error('two leases were claimed');
  await settle(backend, completed(done), { kind: 'complete', lease: cancelled, outcome: 'cancelled' });
  const shared = { dueInMs: null, payload: '{"n":1}', type: 'task', queue: QUEUE };
  const view = await find(first?.id ?? '');
  expect(view).toMatchObject({
    ...shared,
    state: 'completed',
    attempt: 2,
    deliveries: 2,
    headers: { a: 'b' },
  });
  expect(view?.history).toHaveLength(1);
  expect(await find(second?.id ?? '')).toMatchObject({ ...shared, state: 'cancelled', attempt: 1 });
  expect(await backend.lookup?.find('elsewhere', first?.id ?? '', CALL)).toBeNull();

  // The id is free, and a job that is there is found before the record of an older one.
  await put(backend, newJob({ id: first?.id ?? '' }));
  expect(await find(first?.id ?? '')).toMatchObject({ state: 'ready', attempt: 0 });

  clock.now += 60_001;
  expect(await find(second?.id ?? '')).toBeNull();
  await settle(backend, completed(await claimOne(backend)));
  expect(kept(file)).toBe(1);
});

test('without the option nothing is kept', async () => {
  const file = freshFile();
  const backend = await opened(assemble(resolveOptions(file)));
  const [job] = await put(backend, newJob());
  await settle(backend, completed(await claimOne(backend)));
  expect(await backend.lookup?.find(QUEUE, job?.id ?? '', CALL)).toBeNull();
  expect(kept(file)).toBe(0);
});
