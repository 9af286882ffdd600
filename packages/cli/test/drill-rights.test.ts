import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runPsql, sharedPostgres, startRabbitmq, startRedis } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { surety } from './run-surety.ts';

const LIMIT_MS = 180_000;
const USER = 'surety_drill';
const PASSWORD = 'choose-one';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'surety-cli-drill-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the guide tells to run, without its comments. */
async function linesOf(file: string): Promise<readonly string[]> {
  const text = await readFile(new URL(`./programs/${file}`, import.meta.url), 'utf8');
  return text.split('\n').filter((line) => line !== '' && !/^(#|--)/.test(line));
}

/** As a shell makes them of a line. */
function wordsOf(line: string): readonly string[] {
  return (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
}

async function holds(backend: string, url: string, ...options: readonly string[]): Promise<void> {
  const words = ['drill', 'deliver-twice', '--quick', '--seed', '11', '--url', url, ...options];
  const run = await surety(words, { cwd: folder });
  expect(run.stdout + run.stderr).toContain(`deliver-twice on ${backend}: HELD (seed 11)`);
  expect(run.code).toBe(0);
  const file = join(folder, `reports/drills/deliver-twice-${backend}.json`);
  const report: unknown = JSON.parse(await readFile(file, 'utf8'));
  expect(report).toMatchObject({ drill: 'deliver-twice', backend, seed: 11, verdict: 'held' });
}

function as(url: string, user: string): string {
  const own = new URL(url);
  own.username = user;
  own.password = PASSWORD;
  return own.href;
}

describe('a drill on a server that is somebody else’s, with no more than the rights that the guide names', () => {
  it('runs on PostgreSQL and leaves nothing', { timeout: LIMIT_MS }, async () => {
    const server = await sharedPostgres();
    const owners = await server.createDatabase();
    const name = new URL(owners).pathname.slice(1);
    const role = `drill_${name}`;
    const asAdmin = async (sql: string): Promise<void> => {
      const { code, output } = await runPsql(server.adminUrl, sql);
      if (code !== 0) throw new Error(output);
    };
    const rights = (await linesOf('drill-role.sql')).join('\n');
    await asAdmin(rights.replaceAll(USER, role).replace('database app', `database ${name}`));
    try {
      await holds('postgres', as(owners, role));
      const schemas = await runPsql(owners, `select count(*) from pg_namespace where nspname like 'surety%'`);
      expect(schemas.stdout.trim()).toBe('0');
    } finally {
      await server.dropDatabase(owners);
      await asAdmin(`drop role ${role}`);
    }
  });

  it('runs on Redis and leaves nothing', { timeout: LIMIT_MS }, async () => {
    const lines = await linesOf('drill-user-redis.sh');
    const rules = lines.flatMap((line) => wordsOf(line).slice(4));
    await using server = await startRedis({ settings: { user: `${USER} ${rules.join(' ')}` } });
    await holds('redis', as(server.url, USER), '--namespace', 'drills');
    expect(await askRedis(server.host, server.port, 'DBSIZE')).toBe(':0\r\n');
  });

  it('runs on RabbitMQ and leaves nothing', { timeout: LIMIT_MS }, async () => {
    const server = await startRabbitmq();
    try {
      for (const line of await linesOf('drill-user-rabbitmq.sh'))
        await server.control(...wordsOf(line).slice(1));
      await holds('rabbitmq', as(server.url, USER), '--namespace', 'drills');
      for (const what of ['list_queues', 'list_exchanges']) {
        expect(await server.control(what, 'name')).not.toContain('drills');
      }
    } finally {
      await server.destroy();
    }
  });
});

describe('a drill without a right that it needs', () => {
  it('names it at once on Redis, and calls no promise broken', { timeout: LIMIT_MS }, async () => {
    const lines = await linesOf('drill-user-redis.sh');
    const rules = lines.flatMap((line) => wordsOf(line).slice(4)).filter((rule) => rule !== '+zadd');
    await using server = await startRedis({ settings: { user: `${USER} ${rules.join(' ')}` } });
    await isRefused(as(server.url, USER), /no permission|NOPERM/i);
  });

  it('names it at once on RabbitMQ, and calls no promise broken', { timeout: LIMIT_MS }, async () => {
    const server = await startRabbitmq();
    try {
      await server.control('add_user', USER, PASSWORD);
      await server.control('set_permissions', '-p', '/', USER, '^drills[.-]', '^drills[.-]', '^drills[.-]');
      await isRefused(as(server.url, USER), /access/i);
    } finally {
      await server.destroy();
    }
  });
});

async function isRefused(url: string, words: RegExp): Promise<void> {
  const run = await surety(['drill', 'deliver-twice', '--quick', '--url', url, '--namespace', 'drills'], {
    cwd: folder,
  });
  expect(run.stderr).toMatch(words);
  expect(run.stdout + run.stderr).not.toContain('BROKEN');
  expect(run.code).toBe(2);
}

/** One command as text, for a look behind the back of every client. */
async function askRedis(host: string, port: number, command: string): Promise<string> {
  const socket = connect(port, host);
  socket.write(`${command}\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString();
}
