import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { surety } from './run-surety.ts';

const PROBE = new URL('./programs/module-probe.ts', import.meta.url).href;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'surety-cli-probe-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Every module that a command loads. */
async function loadedBy(
  ...words: readonly string[]
): Promise<{ code: number | null; urls: readonly string[] }> {
  const file = join(folder, 'loaded.txt');
  const { code } = await surety(words, {
    cwd: folder,
    flags: ['--import', PROBE],
    env: { PROBE_FILE: file },
  });
  return { code, urls: (await readFile(file, 'utf8')).split('\n') };
}

const CLIENT = /node_modules\/(pg|pg-pool|ioredis|amqplib|@aws-sdk)\//;
const HEAVY = /packages\/(postgres|redis|conformance|demo)\/|node_modules\/pino\//;

describe('a command loads what it uses', () => {
  it.each<[string[], number]>([
    [['--help'], 0],
    [['--version'], 0],
    [['dead', 'redrive', '--help'], 0],
    [['migrate'], 0],
    [['status'], 0],
    [['pause', 'mail'], 0],
    [['dead', 'list'], 0],
    [['doctor'], 0],
  ])('%s: no client library of another store', async (words, code) => {
    const loaded = await loadedBy(...words);
    expect(loaded.code).toBe(code);
    // That the probe sees anything at all.
    expect(loaded.urls.some((url) => url.endsWith('/cli/src/run.ts'))).toBe(true);
    expect(loaded.urls.filter((url) => CLIENT.test(url) || HEAVY.test(url))).toEqual([]);
    if (words.includes('--help'))
      expect(loaded.urls.filter((url) => url.includes('/packages/sqlite/'))).toEqual([]);
  });

  it('sees a client library where one is used', async () => {
    const loaded = await loadedBy('status', '--url', 'postgres://nobody@127.0.0.1:1/nothing');
    expect(loaded.code).toBe(2);
    expect(loaded.urls.some((url) => CLIENT.test(url))).toBe(true);
  });
});
