import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSurety, surety } from './run-surety.ts';
import { makeStore, newJob, put, type TestStore } from './test-stores.ts';

let store: TestStore;

beforeAll(async () => {
  store = await makeStore('sqlite');
  await store.migrate();
});
afterAll(() => store.destroy());

describe('status --watch', () => {
  it('shows what changes, a line a look, until it is interrupted', async () => {
    const words = ['status', '--watch', '--every', '20ms', '--json', '--url', store.url];
    const child = startSurety(words);
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    const look = async (): Promise<readonly { queue: string; ready: { value: number } }[]> =>
      JSON.parse((await lines.next()).value as string).queues;
    expect(await look()).toEqual([]);
    await store.with((backend) => put(backend, [newJob('mail')]));
    let seen = await look();
    while (seen.length === 0) seen = await look();
    expect(seen).toMatchObject([{ queue: 'mail', ready: { value: 1 } }]);
    child.kill('SIGINT');
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code).toBe(0);
  });

  it('refuses an interval that belongs to nothing', async () => {
    const ended = await surety(['status', '--every', '2s', '--url', store.url]);
    expect(ended).toMatchObject({ code: 2, stderr: 'surety: --every belongs to --watch.\n' });
  });
});
