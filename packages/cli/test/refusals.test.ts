import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { freePort } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, surety } from './run-surety.ts';
import { makeStore, newJob, putDead, type TestStore } from './test-stores.ts';

const UNKNOWN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const PASSWORD = 'never-to-be-shown';

const HIDE = new URL('./programs/hide-adapters.ts', import.meta.url).href;

let empty: TestStore;
let store: TestStore;
let postgres: TestStore;
let redis: TestStore;
let dead: string;

beforeAll(async () => {
  [empty, store, postgres, redis] = await Promise.all([
    makeStore('sqlite'),
    makeStore('sqlite'),
    makeStore('postgres'),
    makeStore('redis'),
  ]);
  await store.migrate();
  [dead = ''] = await store.with((backend) => putDead(backend, [newJob('mail')]));
});
afterAll(() => Promise.all([empty, store, postgres, redis].map((each) => each.destroy())));

/** One line on standard error, nothing on standard output, no password. */
function expectRefusal(ended: Ended, code: number, message: RegExp): void {
  expect(ended.stderr).toMatch(message);
  expect(ended.stderr).toMatch(/^surety: [^\n]+\n$/);
  expect(ended.stdout).toBe('');
  expect(ended.code).toBe(code);
  expect(ended.stderr).not.toContain(PASSWORD);
}

describe('arguments', () => {
  it.each<[string, string[], RegExp]>([
    ['no such command', ['launch'], /no such command.*surety --help/],
    ['a family without a member', ['dead'], /Say which: dead list, dead show, dead redrive, dead discard/],
    ['only options', ['--json'], /A command is needed/],
    ['an unknown option', ['status', '--nonsense'], /Unknown option '--nonsense'.*surety status --help/],
    ['an option without its value', ['status', '--queue'], /--queue/],
    ['a word too many', ['status', 'mail'], /status takes no words/],
    ['a word too few', ['jobs', 'show'], /jobs show needs ID/],
    ['no queue', ['pause'], /pause needs QUEUE/],
    ['a queue name that is none', ['pause', 'Mail!'], /queue is named with/],
    ['an id that is none', ['dead', 'show', '42'], /job id is a UUID/],
    ['a type that is none', ['dead', 'list', '--type', 'a b'], /job type is named/],
    ['a limit that is none', ['dead', 'list', '--limit', '0'], /--limit takes a whole number from 1/],
    ['a duration that is none', ['status', '--watch', '--every', 'soon'], /--every takes a duration/],
    ['a duration too long for a timer', ['status', '--timeout', '60d'], /--timeout takes a duration/],
    ['no selection', ['dead', 'redrive', '--yes'], /one or more ids, --type T, or --all/],
    ['two selections', ['dead', 'discard', UNKNOWN_ID, '--all', '--yes'], /one or more ids/],
    ['two ways to answer', ['migrate', '--print', '--json'], /exclude each other/],
    ['cases that are none', ['verify', '--only', 'G99'], /No case begins so/],
    ['a URL that is none', ['status', '--url', 'jobs.db'], /The URL of the store is none.*sqlite:/],
    ['an empty URL', ['status', '--url', ''], /--url is empty/],
    ['an unknown scheme', ['status', '--url', `mysql://u:${PASSWORD}@h/d`], /begin with mysql:/],
    ['a URL in a wrong place', ['status', `postgres://u:${PASSWORD}@h/d`], /takes no words/],
    ['a URL as an option', ['status', `--postgres://u:${PASSWORD}@h/d`], /Unknown option/],
    ['a namespace of a file', ['status', '--namespace', 'x'], /no namespaces/],
    ['no path', ['status', '--url', 'sqlite:'], /sqlite: and the path/],
  ])('refuses %s', async (_what, words, message) => {
    expectRefusal(await surety(words, { cwd: empty.folder }), 2, message);
  });

  it.each([
    ['postgres://127.0.0.1/jobs', 'postgres'],
    ['redis://127.0.0.1', 'redis'],
    ['amqp://127.0.0.1', 'rabbitmq'],
    ['sqs:eu-central-1', 'sqs'],
  ])('refuses %s where its adapter is not installed', async (url, name) => {
    const ended = await surety(['status', '--url', url], { cwd: empty.folder, flags: ['--import', HIDE] });
    expectRefusal(
      ended,
      2,
      new RegExp(`needs the package @surety/${name}\\. Run: npm install @surety/${name}\\n`),
    );
  });

  it.each([
    ['discard of one', () => ['dead', 'discard', dead]],
    ['discard of all', () => ['dead', 'discard', '--all']],
    ['redrive of all', () => ['dead', 'redrive', '--all']],
    ['redrive of a type', () => ['dead', 'redrive', '--type', 'test.job']],
  ])('refuses %s without a terminal and without --yes', async (_what, words) => {
    expectRefusal(await surety([...words(), '--url', store.url]), 2, /no terminal to ask on: add --yes/);
    expect((await surety(['dead', 'show', dead, '--url', store.url])).code).toBe(0);
  });
});

describe('answers that are no', () => {
  it.each([
    ['jobs', 'show'],
    ['dead', 'show'],
  ])('%s %s of an id that is not there', async (...words) => {
    expectRefusal(
      await surety([...words, UNKNOWN_ID, '--url', store.url]),
      1,
      /there is no (job|dead letter)/,
    );
  });

  it.each(['redrive', 'discard'])('dead %s of an id that is not there', async (verb) => {
    const ended = await surety(['dead', verb, UNKNOWN_ID, '--yes', '--url', store.url]);
    expect(ended).toMatchObject({ code: 1, stderr: `${UNKNOWN_ID} is no dead letter.\n` });
  });
});

const EVERY = [
  ['status'],
  ['jobs', 'show', UNKNOWN_ID],
  ['dead', 'list'],
  ['dead', 'show', UNKNOWN_ID],
  ['dead', 'redrive', UNKNOWN_ID],
  ['dead', 'discard', '--all', '--yes'],
  ['pause', 'mail'],
  ['resume', 'mail'],
];

describe('a SQLite store', () => {
  it.each([...EVERY, ['doctor']])('that is not there is not made by %s', async (...words) => {
    const ended = await surety(words, { cwd: empty.folder });
    expectRefusal(
      ended,
      2,
      /jobs\.db \(the default; see --url and SURETY_URL\).* does not exist.*surety migrate/,
    );
    expect(existsSync(join(empty.folder, 'jobs.db'))).toBe(false);
  });

  it.each(EVERY)('without a schema gets none by %s', async (...words) => {
    const file = join(empty.folder, 'blank.db');
    await writeFile(file, '');
    expectRefusal(
      await surety([...words, '--url', `sqlite:${file}`]),
      2,
      /no Surety tables\. Run: surety migrate\n/,
    );
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  it('in a folder that is not there, or that is a folder', async () => {
    const lost = join(empty.folder, 'nowhere', 'jobs.db');
    expectRefusal(await surety(['status', '--url', `sqlite:${lost}`]), 2, /does not exist/);
    expectRefusal(await surety(['migrate', '--url', `sqlite:${lost}`]), 2, /folder .* does not exist/);
    expectRefusal(await surety(['verify', '--url', `sqlite:${lost}`, '--only', 'G5']), 2, /does not exist/);
    expectRefusal(await surety(['status', '--url', `sqlite:${empty.folder}`]), 2, /not a regular file/);
  });

  it.each(['status', 'doctor', 'migrate'])('that is no database is refused by %s', async (command) => {
    const file = join(empty.folder, 'text.db');
    await writeFile(file, 'This is a text, and longer than the header of a database would be.\n'.repeat(20));
    expectRefusal(await surety([command, '--url', `sqlite:${file}`]), 2, /not a SQLite database/);
  });

  it('of another program is refused, and not changed', async () => {
    const file = join(empty.folder, 'theirs.db');
    const theirs = new DatabaseSync(file);
    theirs.exec('create table theirs (a)');
    theirs.close();
    for (const command of ['status', 'migrate'])
      expectRefusal(await surety([command, '--url', `sqlite:${file}`]), 2, /database of another program/);
    const { code, stdout } = await surety(['doctor', '--url', `sqlite:${file}`]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^problem +schema .*another program/m);
  });
});

describe('a PostgreSQL store', () => {
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(postgres.url);
    url.password = PASSWORD;
    change(url);
    return url.href;
  };

  it.each(EVERY)('without a schema gets none by %s', async (...words) => {
    expectRefusal(await surety(words, { env: { SURETY_URL: postgres.url } }), 2, /Run: surety migrate\n/);
  });

  it.each(['status', 'migrate', 'doctor', 'verify', 'demo'])(
    'is refused by %s with wrong credentials',
    async (command) => {
      const url = changed((each) => {
        each.username = 'nobody-of-that-name';
      });
      expectRefusal(await surety([command, '--url', url]), 2, /error 28(P01|000).*credentials/);
    },
  );

  it.each(['status', 'migrate', 'doctor', 'verify', 'demo'])(
    'is refused by %s at a wrong port',
    async (command) => {
      const port = await freePort();
      const url = changed((each) => {
        each.port = String(port);
      });
      expectRefusal(await surety([command, '--url', url]), 2, /ECONNREFUSED.*Check that it runs/);
    },
  );

  it('is refused on a wrong host', async () => {
    const url = changed((each) => {
      each.hostname = 'no-such-host.invalid';
    });
    expectRefusal(await surety(['status', '--url', url]), 2, /(ENOTFOUND|EAI_AGAIN)/);
  });

  it('is refused where its URL cannot be read, without repeating it', async () => {
    expectRefusal(await surety(['status', '--url', `postgres://u:${PASSWORD}#/x@h:port/d`]), 2, /not a URL/);
  });
});

describe('a Redis store', () => {
  const COMMANDS = ['status', 'migrate', 'doctor', 'verify', 'demo'];
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(redis.url);
    change(url);
    return url.href;
  };

  /** A server of another kind, for as long as `use` runs. */
  async function withServer(answer: string, use: (port: number) => Promise<void>): Promise<void> {
    const server: Server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await use((server.address() as { readonly port: number }).port);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  }

  it.each(COMMANDS)('is refused by %s with a wrong password', async (command) => {
    const url = changed((each) => {
      each.password = PASSWORD;
    });
    expectRefusal(await surety([command, '--url', url]), 2, /error WRONGPASS.*credentials/);
  });

  it.each(COMMANDS)('is refused by %s at a wrong port', async (command) => {
    const port = await freePort();
    const url = changed((each) => {
      each.port = String(port);
      each.password = PASSWORD;
    });
    expectRefusal(await surety([command, '--url', url]), 2, /ECONNREFUSED.*Check that it runs/);
  });

  it.each(COMMANDS)('is refused by %s where something else answers', async (command) => {
    await withServer('HTTP/1.1 400 Bad Request\r\n\r\n', async (port) => {
      const url = `redis://u:${PASSWORD}@127.0.0.1:${port}`;
      expectRefusal(
        await surety([command, '--url', url]),
        2,
        /does not speak the protocol of Redis.*Check host/,
      );
    });
  });

  it('is refused on a wrong host, by TLS where the server has none, and in a database that it has not', async () => {
    const lost = changed((url) => {
      url.hostname = 'no-such-host.invalid';
    });
    expectRefusal(await surety(['status', '--url', lost]), 2, /(ENOTFOUND|EAI_AGAIN)/);
    const secure = redis.url.replace('redis:', 'rediss:');
    expectRefusal(await surety(['status', '--url', secure]), 2, /connection to Redis failed/);
    for (const command of ['status', 'doctor', 'verify'])
      expectRefusal(await surety([command, '--url', `${redis.url}/99`]), 2, /no database 99/);
  });

  it('is refused where its URL cannot be read, without repeating it', async () => {
    const unreadable = `redis://u:${PASSWORD}#/x@h:port/d`;
    expectRefusal(await surety(['status', '--url', unreadable]), 2, /not a URL/);
    const named = `redis://u:${PASSWORD}@127.0.0.1/jobs`;
    expectRefusal(await surety(['status', '--url', named]), 2, /not the number of a database/);
  });

  it.each([
    ['jobs', 'show'],
    ['dead', 'show'],
  ])('%s %s of an id that is not there', async (...words) => {
    const ended = await surety([...words, UNKNOWN_ID, '--url', redis.url]);
    expectRefusal(ended, 1, /there is no (job|dead letter)/);
  });

  it.each(['redrive', 'discard'])('dead %s of an id that is not there', async (verb) => {
    const ended = await surety(['dead', verb, UNKNOWN_ID, '--yes', '--url', redis.url]);
    expect(ended).toMatchObject({ code: 1, stderr: `${UNKNOWN_ID} is no dead letter.\n` });
  });
});
