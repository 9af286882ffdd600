import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSurety, surety } from './run-surety.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'surety-cli-drill-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('drill', () => {
  it('names the drills where there is none of the name', async () => {
    const { code, stdout, stderr } = await surety(['drill', 'no-such'], { cwd: folder });
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/There are: all, kill-worker, deliver-twice, poison, stop-an-hour/);
  });

  it('removes what it made when it is interrupted', { timeout: 120_000 }, async () => {
    const child = startSurety(['drill', 'kill-worker', '--url', 'sqlite:jobs.db'], { cwd: folder });
    let text = '';
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    const ended = once(child, 'close');
    while (!text.includes('takes the jobs')) await once(child.stdout!, 'data');
    expect((await readdir(folder)).filter((name) => name.startsWith('surety-'))).toHaveLength(1);
    child.kill('SIGINT');
    const [code] = (await ended) as [number | null];
    expect(text).toContain('SIGINT: cleaning up.');
    expect(code).toBe(130);
    expect(
      (await readdir(folder)).filter((name) => name.startsWith('surety-') || name === 'jobs.db'),
    ).toEqual([]);
  });
});
