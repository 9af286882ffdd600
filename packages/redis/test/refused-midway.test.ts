import type { Backend, NewJob } from '@surety/core/contract';
import { expect, test } from 'vitest';
import { CALL, claim, ERROR, freshQueue, newJob, put, statuses, useStore } from './store.ts';

const store = useStore();

const KINDS: readonly (readonly [string, Partial<NewJob>])[] = [
  ['a ready job', {}],
  ['a job with an expiry', { expiresInMs: 3_600_000 }],
  ['a scheduled job', { delayMs: 3_600_000 }],
  ['a job with a dedupe key', { dedupe: { key: 'order-1', windowMs: 3_600_000 } }],
];

/** A backend whose user lacks one right, and a way to grant it. */
async function openWithout(right: string): Promise<{ backend: Backend; grant: () => Promise<unknown> }> {
  const user = `without-${right}-${store.prefix}`;
  await store.client.call('ACL', 'SETUSER', user, 'on', '>word', '~*', '+@all', `-${right}`);
  const url = new URL(store.url);
  url.username = user;
  url.password = 'word';
  const backend = await store.open({ connection: url.href });
  return { backend, grant: () => store.client.call('ACL', 'SETUSER', user, `+${right}`) };
}

/** It is accepted now, and stands where a worker finds it. */
async function expectStored(backend: Backend, job: NewJob): Promise<void> {
  const [again] = await backend.enqueue([job], CALL);
  expect(again?.status).toBe('accepted');
  const { ready, scheduled } = await backend.counts(job.queue, CALL);
  expect(ready.value === 1 || scheduled.value === 1).toBe(true);
  if (job.delayMs === 0) expect((await claim(backend, job.queue)).map(({ id }) => id)).toEqual([job.id]);
}

test.each(KINDS)('%s that its line refused for want of a right is no duplicate', async (_, overrides) => {
  const { backend, grant } = await openWithout('zadd');
  const job = newJob(freshQueue(), overrides);
  const [refused] = await backend.enqueue([job], CALL);
  expect(refused).toMatchObject({
    status: 'unknown',
    error: { message: expect.stringContaining('no permission') },
  });
  await grant();
  await expectStored(backend, job);
});

test.each(KINDS)("%s whose line is another program's key is no duplicate", async (_, overrides) => {
  const backend = await store.open();
  const job = newJob(freshQueue(), overrides);
  const foreign = `${store.prefix}:{${job.queue}}:${job.delayMs > 0 ? 'scheduled' : 'ready:1'}`;
  await store.client.set(foreign, 'of another program');
  const [refused] = await backend.enqueue([job], CALL);
  expect(refused).toMatchObject({
    status: 'unknown',
    error: { message: expect.stringContaining('WRONGTYPE') },
  });
  await store.client.del(foreign);
  await expectStored(backend, job);
});

test('a dead letter that was discarded in part stays in its list until it is discarded whole', async () => {
  const { backend, grant } = await openWithout('hdel');
  const queue = freshQueue();
  const admin = await store.open();
  const [job] = await put(admin, queue);
  const [lease] = await claim(admin, queue);
  if (!job || !lease) throw new Error('one job was ready');
  expect(await statuses(admin, [{ kind: 'bury', lease, error: ERROR }])).toEqual(['settled']);
  const discard = () => backend.deadLetters.discard(queue, { ids: [job.id] }, CALL);
  await expect(discard()).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  expect((await backend.counts(queue, CALL)).dead.value).toBe(1);
  await grant();
  expect(await discard()).toMatchObject([{ status: 'discarded' }]);
  await expectStored(backend, job);
});
