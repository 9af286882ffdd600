import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runPsql, sharedPostgres } from '@surety/testbed';
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

  it('runs on a server that is somebody else’s, with no more than the rights that the guide names', {
    timeout: 180_000,
  }, async () => {
    const server = await sharedPostgres();
    const owners = await server.createDatabase();
    const name = new URL(owners).pathname.slice(1);
    const role = `drill_${name}`;
    const rights = (await readFile(new URL('./programs/drill-role.sql', import.meta.url), 'utf8'))
      .replaceAll('surety_drill', role)
      .replace('database app', `database ${name}`);
    const asAdmin = async (sql: string): Promise<string> => {
      const { code, output, stdout } = await runPsql(server.adminUrl, sql);
      if (code !== 0) throw new Error(output);
      return stdout;
    };
    await asAdmin(rights);
    try {
      const url = new URL(owners);
      url.username = role;
      url.password = 'choose-one';
      const run = await surety(['drill', 'deliver-twice', '--quick', '--seed', '11', '--url', url.href], {
        cwd: folder,
      });
      expect(run.stdout).toContain('deliver-twice on postgres: HELD (seed 11)');
      expect(run.code).toBe(0);
      const report: unknown = JSON.parse(
        await readFile(join(folder, 'reports/drills/deliver-twice-postgres.json'), 'utf8'),
      );
      expect(report).toMatchObject({
        drill: 'deliver-twice',
        backend: 'postgres',
        seed: 11,
        verdict: 'held',
      });
      const schemas = await runPsql(owners, `select count(*) from pg_namespace where nspname like 'surety%'`);
      expect(schemas.stdout.trim()).toBe('0');
    } finally {
      await server.dropDatabase(owners);
      await asAdmin(`drop role ${role}`);
    }
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
