import { randomUUID } from 'node:crypto';
import type { DeadLetter, JobView, QueueCounts } from '@surety/core/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunOptions, surety, suretyJson } from './run-surety.ts';
import { makeStore, newJob, put, putDead, type StoreKind, type TestStore } from './test-stores.ts';

interface StatusAnswer {
  readonly store: string;
  readonly queues: readonly (QueueCounts & { readonly queue: string; readonly paused: boolean })[];
}

describe.each<StoreKind>(['sqlite', 'postgres', 'redis'])('on %s', (kind) => {
  let store: TestStore;
  let options: RunOptions;

  beforeAll(async () => {
    store = await makeStore(kind);
    await store.migrate();
    options = { cwd: store.folder, env: { SURETY_URL: store.url } };
  });
  afterAll(() => store.destroy());

  const freshQueue = (): string => `q-${randomUUID().slice(0, 8)}`;

  async function statusOf(queue: string): Promise<StatusAnswer['queues'][number]> {
    const { queues } = await suretyJson<StatusAnswer>(['status', '--queue', queue], options);
    const [found] = queues;
    if (found === undefined) throw new Error('no queue');
    return found;
  }

  it('counts what is where, exactly, and marks a paused queue', async () => {
    const queue = freshQueue();
    await store.with(async (backend) => {
      await putDead(backend, [newJob(queue)]);
      await put(backend, [newJob(queue), newJob(queue), newJob(queue, { delayMs: 3_600_000 })]);
    });
    const found = await statusOf(queue);
    expect(found).toMatchObject({
      queue,
      paused: false,
      ready: { value: 2, kind: 'exact' },
      scheduled: { value: 1, kind: 'exact' },
      leased: { value: 0, kind: 'exact' },
      dead: { value: 1, kind: 'exact' },
    });
    expect(found.oldestReadyAgeMs.value).toBeGreaterThanOrEqual(0);
    const { stdout, stderr, code } = await surety(['status'], options);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^QUEUE +READY +SCHEDULED +LEASED +DEAD +OLDEST READY$/m);
    expect(stdout).toMatch(new RegExp(`^${queue} +2 +1 +0 +1 +\\d+ m?s$`, 'm'));
    expect(stdout).not.toContain('\u001b');

    expect((await surety(['pause', queue], options)).stdout).toMatch(/^paused .*; every worker knows within/);
    expect((await surety(['pause', queue], options)).stdout).toBe(`${queue} was paused already\n`);
    expect((await statusOf(queue)).paused).toBe(true);
    expect((await surety(['status'], options)).stdout).toMatch(new RegExp(`^${queue} .* paused$`, 'm'));
    expect((await surety(['resume', queue], options)).stdout).toContain('resumed');
    expect((await statusOf(queue)).paused).toBe(false);
    const twice = await surety(['resume', queue], options);
    expect(twice).toMatchObject({ code: 0, stdout: `${queue} was not paused\n` });
  });

  it('wonders about a queue that holds nothing', async () => {
    const ended = await surety(['pause', 'mistyped'], options);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain('is the name right?');
    await surety(['resume', 'mistyped'], options);
  });

  it('shows one job, whichever queue it is in', async () => {
    const queue = freshQueue();
    const [id = ''] = await store.with((backend) =>
      put(backend, [newJob(queue, { delayMs: 3_600_000, headers: { tenant: 'acme' } })]),
    );
    const job = await suretyJson<JobView>(['jobs', 'show', id], options);
    expect(job).toMatchObject({ id, queue, state: 'scheduled', payload: '{"greeting":"hello"}' });
    const { stdout } = await surety(['jobs', 'show', id.toUpperCase(), '--queue', queue], options);
    expect(stdout).toMatch(/^state +scheduled, due in (60|59) min$/m);
    expect(stdout).toMatch(/^header +tenant: acme$/m);
    const elsewhere = await surety(['jobs', 'show', id, '--queue', 'other'], options);
    expect(elsewhere.code).toBe(1);
  });

  it('lists and shows dead letters, with nothing in them that could move the cursor', async () => {
    const queue = freshQueue();
    const message = 'first line\nsecond \u001b[31mline';
    await store.with(async (backend) => {
      await putDead(backend, [newJob(queue, { type: 'mail.send' })], { code: 'HANDLER_FAILED', message });
      await putDead(backend, [newJob(queue), newJob(queue)]);
    });
    const listed = await surety(['dead', 'list', '--queue', queue, '--type', 'mail.send'], options);
    expect(listed.code).toBe(0);
    expect(listed.stdout.trimEnd().split('\n')).toHaveLength(2);
    expect(listed.stdout).toContain('Error: first line\\nsecond \\u001b[31mline');
    const { dead, more } = await suretyJson<{ dead: DeadLetter[]; more: string[] }>(
      ['dead', 'list', '--queue', queue, '--limit', '2'],
      options,
    );
    expect(dead).toHaveLength(2);
    expect(more).toEqual([queue]);
    const all = await surety(['dead', 'list', '--queue', queue, '-n', '2'], options);
    expect(all.stdout).toContain(`More in ${queue}: raise --limit.`);
    const none = await surety(['dead', 'list', '--queue', 'other'], options);
    expect(none).toMatchObject({ code: 0, stdout: 'No dead letters.\n' });

    const [{ id } = { id: '' }] = dead;
    const shown = await surety(['dead', 'show', id], options);
    expect(shown.stdout).toMatch(/^died +\d{4}-.*, reason BURIED$/m);
    expect(shown.stdout).toMatch(/^payload +\{"greeting":"hello"\}$/m);
    expect(shown.stdout).toContain('Error: it broke');
    expect(await suretyJson(['dead', 'show', id, '-q', queue], options)).toMatchObject({
      id,
      reason: 'BURIED',
    });
  });

  it('redrives by id without a question, and says what it did not find', async () => {
    const queue = freshQueue();
    const [first = '', second = ''] = await store.with((backend) =>
      putDead(backend, [newJob(queue), newJob(queue)]),
    );
    const both = await surety(['dead', 'redrive', first, second], options);
    expect(both).toMatchObject({ code: 0, stdout: 'redriven 2\n', stderr: '' });
    expect(await statusOf(queue)).toMatchObject({ ready: { value: 2 }, dead: { value: 0 } });
    const again = await surety(['dead', 'redrive', first], options);
    expect(again).toMatchObject({ code: 1, stdout: 'redriven 0\n', stderr: `${first} is no dead letter.\n` });
  });

  it('leaves a job dead whose dedupe key another holds, and says so', async () => {
    const queue = freshQueue();
    const job = newJob(queue, { dedupe: { key: 'once', windowMs: 50 } });
    const other = newJob(queue, { dedupe: { key: 'once', windowMs: 3_600_000 } });
    await store.with(async (backend) => {
      await putDead(backend, [job]);
      await expect.poll(() => put(backend, [other]).then(() => 'stored', String)).toBe('stored');
    });
    const ended = await surety(['dead', 'redrive', job.id], options);
    expect(ended).toMatchObject({ code: 1, stdout: 'redriven 0\n' });
    expect(ended.stderr).toContain(`stays dead: the job ${other.id} holds its dedupe key`);
  });

  it('redrives and discards by type and all, more than one page, only where it is told to', async () => {
    const [queue, other] = [freshQueue(), freshQueue()];
    await store.with(async (backend) => {
      await putDead(backend, [newJob(queue, { type: 'a' }), newJob(queue, { type: 'b' })]);
      await putDead(
        backend,
        Array.from({ length: 130 }, () => newJob(other, { type: 'a' })),
      );
    });
    const byType = ['dead', 'redrive', '--type', 'a', '--queue', queue, '--yes'];
    expect((await surety(byType, options)).stdout).toBe('redriven 1\n');
    expect(await statusOf(queue)).toMatchObject({ ready: { value: 1 }, dead: { value: 1 } });
    expect(await statusOf(other)).toMatchObject({ dead: { value: 130 } });
    const discarded = await suretyJson<{ discarded: number; outcomes: unknown[] }>(
      ['dead', 'discard', '--all', '-q', other, '-y'],
      options,
    );
    expect(discarded.discarded).toBe(130);
    expect(discarded.outcomes).toHaveLength(130);
    expect(await statusOf(other)).toMatchObject({ ready: { value: 0 }, dead: { value: 0 } });
    expect(await statusOf(queue)).toMatchObject({ dead: { value: 1 } });
    const [left = ''] = (
      await suretyJson<{ dead: DeadLetter[] }>(['dead', 'list', '-q', queue], options)
    ).dead.map(({ id }) => id);
    expect((await surety(['dead', 'discard', left, '--yes'], options)).stdout).toBe('discarded 1\n');
    expect((await surety(['jobs', 'show', left], options)).code).toBe(1);
  });

  it('has nothing left to print once the schema is there, or where none is needed', async () => {
    const needsNone = kind === 'redis';
    const printed = await surety(['migrate', '--print'], options);
    expect(printed).toMatchObject({ code: 0, stdout: '' });
    expect(printed.stderr).toMatch(
      needsNone ? /needs no schema, nothing to run/ : /up to date \(version \d+\), nothing to run/,
    );
    const { from, to } = await suretyJson<{ from: number; to: number }>(['migrate'], options);
    expect(from).toBe(to);
    expect(to > 0).toBe(!needsNone);
    const { stdout } = await surety(['migrate'], options);
    expect(stdout).toMatch(needsNone ? /needs no schema, nothing to make\n$/ : /up to date, version \d+\n$/);
  });
});
