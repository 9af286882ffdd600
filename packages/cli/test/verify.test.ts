import { once } from 'node:events';
import { readdir, rename, rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSurety, surety, suretyJson } from './run-surety.ts';
import { makeStore, newJob, put, putDead, type StoreKind, type TestStore } from './test-stores.ts';

interface Report {
  readonly totals: Readonly<Record<'proven' | 'notExercised' | 'failed', number>>;
  readonly cases: readonly { readonly id: string; readonly status: string }[];
}

/** Nothing of a verification is left in the store. */
async function expectNothingLeft(store: TestStore): Promise<void> {
  const { stdout } = await surety(['doctor', '--url', store.url]);
  expect(stdout).toMatch(/^ok +trials/m);
}

describe.each<StoreKind>(['sqlite', 'postgres', 'redis'])('verify on %s', (kind) => {
  let store: TestStore;

  beforeAll(async () => {
    store = await makeStore(kind);
    await store.migrate();
  });
  afterAll(() => store.destroy());

  it('proves cases in a place of its own and leaves everything as it was', async () => {
    await store.with(async (backend) => {
      await putDead(backend, [newJob('mail')]);
      await put(backend, [newJob('mail'), newJob('mail', { delayMs: 3_600_000 })]);
    });
    const status = (): Promise<object> => suretyJson(['status', '--url', store.url]).then(withoutAges);
    const before = await status();
    const { code, stdout, stderr } = await surety(['verify', '--quick', '--only', 'G6', '--url', store.url]);
    expect(stderr).toMatch(
      /^In the (schema surety_verify_|folder .*surety-verify-|keys surety:verify-).*removed at the end\.\n$/,
    );
    expect(stdout).toMatch(/^G6 +a terminal state +\d+ /m);
    expect(stdout).toContain('0 failed');
    expect(stdout).toMatch(
      /not exercised, since a URL does not give .*\n +1 +the harness has no hook corruptPayload/,
    );
    expect(code).toBe(0);
    expect(await status()).toEqual(before);
    await expectNothingLeft(store);
  });

  it('runs cases that need a second process or a transaction of the application', async () => {
    const words = ['verify', '--quick', '--only', 'G1', '--url', store.url];
    const { cases, totals } = await suretyJson<Report>(words);
    const proven = cases.filter(({ status }) => status === 'proven').map(({ id }) => id);
    expect(totals.failed).toBe(0);
    expect(proven.some((id) => id.startsWith('G1.4/'))).toBe(true);
    expect(proven.some((id) => id.startsWith('G10.'))).toBe(true);
    await expectNothingLeft(store);
  });

  it('removes its place when it is interrupted', async () => {
    const child = startSurety(['verify', '--only', 'G2', '--url', store.url]);
    const [told] = (await once(child.stderr!.setEncoding('utf8'), 'data')) as [string];
    expect(told).toMatch(/^In the /);
    child.kill('SIGINT');
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code).toBe(130);
    await expectNothingLeft(store);
  });
});

describe('verify', () => {
  it('works where there is no store yet, and makes none', async () => {
    const store = await makeStore('sqlite');
    const { code } = await surety(['verify', '--quick', '--only', 'G5.1'], { cwd: store.folder });
    expect(code).toBe(0);
    expect(await readdir(store.folder)).toEqual([]);
    await store.destroy();
  });

  it('ends with 1 and names the cases where a promise is not kept', async () => {
    const store = await makeStore('sqlite');
    const child = startSurety(['verify', '--quick', '--only', 'G2', '--url', store.url]);
    let [stdout, stderr] = ['', ''];
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    await once(child.stderr!, 'data');
    const [, folder = ''] = /^In the folder (.+), which/.exec(stderr) ?? [];
    // Somebody takes the store away under it, at one stroke: what is open works on, and no case opens it again.
    // (Other bytes in the file spoil nothing while every page is read from the log beside it.)
    const away = `${store.folder}-away`;
    await rename(folder, away);
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code).toBe(1);
    expect(stderr).toMatch(/^failed G2\.\d+\//m);
    expect(stdout).toMatch(/^failed G2\.\d+\//m);
    expect(await readdir(store.folder)).toEqual([]);
    await rm(away, { recursive: true });
    await store.destroy();
  });
});

/** Ages grow while one looks. */
function withoutAges(answer: unknown): object {
  return JSON.parse(
    JSON.stringify(answer, (name, value: unknown) => (name === 'oldestReadyAgeMs' ? null : value)),
  );
}
