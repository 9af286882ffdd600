import { beforeAll, describe, expect, test } from 'vitest';
import { operator } from '../src/operator/index.ts';
import { CALL, claim, freshQueue, put, useStore } from './store.ts';

const address = (url: string, namespace: string | null = null) => ({ url, namespace });

describe('an address', () => {
  test.each([
    ['redis://user:secret-word@host:6380/2', null, 'redis://user@host:6380/2 (prefix surety)'],
    ['rediss://:secret-word@host?password=secret-word', 'mine', 'rediss://host (prefix mine)'],
    ['redis://user:secret-word@host?cluster', null, 'the cluster at redis://user@host (prefix surety)'],
  ])('%s is told without anything secret', (url, namespace, told) => {
    expect(operator.describe(address(url, namespace))).toBe(told);
  });

  test.each([
    'redis',
    'http://user:secret-word@host',
    'redis://user:secret-word@host/jobs',
    'redis://user:secret-word#/x@h:port/d',
  ])('%s is none, and is not repeated', (url) => {
    const refusal = (): unknown => operator.describe(address(url));
    expect(refusal).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }) as Error);
    expect(refusal).not.toThrow(/secret-word/);
  });
});

describe('an operator', () => {
  const store = useStore();
  let keysBefore: readonly string[];

  beforeAll(async () => {
    keysBefore = (await store.client.keys(`${store.prefix}:*`)).toSorted();
  });

  test('has no schema to make, and makes no key by looking', async () => {
    const here = address(store.url, store.prefix);
    expect(await operator.schema(here, CALL)).toEqual({ version: 0, newest: 0, script: '' });
    await operator.migrate(here, CALL);
    await operator.diagnose(here, { ...CALL, longTransactionMs: 1000 });
    const backend = operator.backend(here);
    await backend.open({ ...CALL, notify: () => undefined });
    expect(await backend.queues(CALL)).toEqual([]);
    await backend.close({ graceMs: 1000 });
    expect(await store.client.keys(`${store.prefix}:*`)).toEqual(keysBefore);
  });

  test('removes a trial and nothing else, also while somebody of this process writes in it', async () => {
    const here = address(store.url, store.prefix);
    const [backend, queue] = [await store.open(), freshQueue()];
    await put(backend, queue);
    const trial = await operator.trial(here, CALL);
    const prefix = /^the keys (\S+):\*$/.exec(trial.where)?.[1] ?? '';
    expect(prefix.startsWith(`${store.prefix}:`)).toBe(true);
    const inTrial = trial.backend();
    await inTrial.open({ ...CALL, notify: () => undefined });
    await put(inTrial, queue, 20);
    expect(await store.client.keys(`${prefix}:*`)).not.toEqual([]);
    const trials = async (): Promise<string | undefined> =>
      (await operator.diagnose(here, { ...CALL, longTransactionMs: 1000 })).find(
        ({ check }) => check === 'trials',
      )?.what;
    expect(await trials()).toContain(prefix);
    const writing = Array.from({ length: 50 }, () => put(inTrial, queue).catch(() => 'called off'));
    await trial[Symbol.asyncDispose]();
    await Promise.all(writing);
    expect(await store.client.keys(`${prefix}:*`)).toEqual([]);
    expect(await trials()).toBe('nothing is left of `surety verify`');
    expect(await claim(backend, queue)).toHaveLength(1);
  });

  test('finds many dead letters, and a key of another program in the place of one of ours', async () => {
    const prefix = `${store.prefix}:other`;
    const here = address(store.url, prefix);
    const look = () => operator.diagnose(here, { ...CALL, longTransactionMs: 1000 });
    await store.client.sadd(`${prefix}:queues`, 'mail');
    const many = Array.from({ length: 200_001 }, (_, n) => [n, `job-${n}`]).flat();
    for (let at = 0; at < many.length; at += 100_000)
      await store.client.zadd(`${prefix}:{mail}:dead`, ...many.slice(at, at + 100_000).map(String));
    expect(await look()).toContainEqual(
      expect.objectContaining({
        check: 'dead-letters',
        level: 'note',
        what: expect.stringContaining('200001 of mail'),
      }),
    );
    await store.client.set(`${prefix}:queues`, 'theirs');
    expect(await look()).toContainEqual(
      expect.objectContaining({
        check: 'schema',
        level: 'problem',
        remedy: expect.stringContaining('prefix'),
      }),
    );
  });
});
