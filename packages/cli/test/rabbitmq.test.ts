import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { DeadLetter, QueueCounts } from '@surety/core/contract';
import type { Finding } from '@surety/core/operator';
import { freePort, startRabbitmq } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, type RunOptions, startSurety, surety, suretyJson } from './run-surety.ts';
import { makeStore, newJob, put, putDead, type TestStore } from './test-stores.ts';

const UNKNOWN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const PASSWORD = 'never-to-be-shown';

let store: TestStore;
let options: RunOptions;

beforeAll(async () => {
  store = await makeStore('rabbitmq');
  await store.migrate();
  options = { cwd: store.folder, env: { SURETY_URL: store.url } };
});
afterAll(() => store.destroy());

/** The URL without the management API. */
function bare(change: (url: URL) => void = () => undefined): string {
  const url = new URL(store.url);
  url.search = '';
  change(url);
  return url.href;
}

/** A queue that was made; who only looks makes none. */
async function madeQueue(): Promise<string> {
  const queue = `q-${randomUUID().slice(0, 8)}`;
  const url = `${bare()}?queues=${queue}`;
  expect((await surety(['migrate', '--url', url])).stdout).toMatch(/version 0 to 1\n$/);
  return queue;
}

type Status = QueueCounts & { readonly queue: string; readonly paused: boolean };

async function statusOf(queue: string): Promise<Status> {
  const { queues } = await suretyJson<{ queues: readonly Status[] }>(['status', '--queue', queue], options);
  const [found] = queues;
  if (found === undefined) throw new Error('no queue');
  return found;
}

describe('on RabbitMQ', () => {
  it('counts what is where, marks what is not exact, and pauses', async () => {
    const queue = await madeQueue();
    await store.with(async (backend) => {
      await putDead(backend, [newJob(queue)]);
      await put(backend, [newJob(queue), newJob(queue), newJob(queue, { delayMs: 3_600_000 })]);
    });
    expect(await statusOf(queue)).toMatchObject({
      paused: false,
      ready: { value: 2, kind: 'exact' },
      scheduled: { value: 1 },
      dead: { value: 1 },
    });
    const { stdout, stderr, code } = await surety(['status'], options);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout).toMatch(new RegExp(`^${queue} +2 +>=1 +\\S+ +>=1 `, 'm'));

    expect((await surety(['pause', queue], options)).stdout).toMatch(/^paused .*; every worker knows within/);
    expect((await surety(['pause', queue], options)).stdout).toBe(`${queue} was paused already\n`);
    expect((await surety(['status'], options)).stdout).toMatch(new RegExp(`^${queue} .* paused$`, 'm'));
    expect((await surety(['resume', queue], options)).stdout).toContain('resumed');
    expect((await statusOf(queue)).paused).toBe(false);
    expect((await surety(['resume', queue], options)).stdout).toBe(`${queue} was not paused\n`);
  });

  it('finds the queues that the URL names, and says so where it names none', async () => {
    const [queue, other] = [await madeQueue(), await madeQueue()];
    await store.with((backend) => put(backend, [newJob(queue)]));
    const named = { env: { SURETY_URL: `${bare()}?queues=${queue},${other}` } };
    const { queues } = await suretyJson<{ queues: readonly Status[] }>(['status'], named);
    expect(queues.map((each) => each.queue)).toEqual([queue]);
    expectRefusal(
      await surety(['status', '--url', bare()]),
      2,
      /does not list its queues.*--queue.*\?queues=/,
    );
  });

  it('shows a dead job by its id, and says that others are not to be found', async () => {
    const queue = await madeQueue();
    const [[dead = ''], [ready = '']] = await store.with(async (backend) => [
      await putDead(backend, [newJob(queue, { headers: { tenant: 'acme' } })]),
      await put(backend, [newJob(queue)]),
    ]);
    const { stdout } = await surety(['jobs', 'show', dead.toUpperCase()], options);
    expect(stdout).toMatch(/^state +dead$/m);
    expect(stdout).toMatch(/^header +tenant: acme$/m);
    for (const id of [ready, UNKNOWN_ID])
      expectRefusal(await surety(['jobs', 'show', id], options), 1, /others cannot be found by id/);
    // Looking took nothing away.
    expect(await statusOf(queue)).toMatchObject({ ready: { value: 1 }, dead: { value: 1 } });
  });

  it('lists and shows dead letters, with nothing in them that could move the cursor', async () => {
    const queue = await madeQueue();
    const message = 'first line\nsecond \u001b[31mline';
    await store.with(async (backend) => {
      await putDead(backend, [newJob(queue, { type: 'mail.send' })], { code: 'HANDLER_FAILED', message });
      await putDead(backend, [newJob(queue), newJob(queue)]);
    });
    const listed = await surety(['dead', 'list', '--queue', queue, '--type', 'mail.send'], options);
    expect(listed.stdout.trimEnd().split('\n')).toHaveLength(2);
    expect(listed.stdout).toContain('Error: first line\\nsecond \\u001b[31mline');
    const { dead, more } = await suretyJson<{ dead: DeadLetter[]; more: string[] }>(
      ['dead', 'list', '--queue', queue, '--limit', '2'],
      options,
    );
    expect(dead).toHaveLength(2);
    expect(more).toEqual([queue]);
    const [{ id } = { id: '' }] = dead;
    expect((await surety(['dead', 'show', id], options)).stdout).toMatch(/^died +\d{4}-.*, reason /m);
    expectRefusal(await surety(['dead', 'show', UNKNOWN_ID], options), 1, /there is no dead letter/);
  });

  it('redrives and discards by id, type and all, however many there are', async () => {
    const [queue, other] = [await madeQueue(), await madeQueue()];
    const [[first = ''], many] = await store.with(async (backend) => [
      await putDead(backend, [newJob(queue, { type: 'a' }), newJob(queue, { type: 'b' })]),
      await putDead(
        backend,
        Array.from({ length: 130 }, () => newJob(other, { type: 'a' })),
      ),
    ]);
    const byId = await surety(['dead', 'redrive', first, UNKNOWN_ID], options);
    expect(byId).toMatchObject({
      code: 1,
      stdout: 'redriven 1\n',
      stderr: `${UNKNOWN_ID} is no dead letter.\n`,
    });
    const byType = ['dead', 'redrive', '--type', 'b', '--queue', queue, '--yes'];
    expect((await surety(byType, options)).stdout).toBe('redriven 1\n');
    expect(await statusOf(queue)).toMatchObject({ ready: { value: 2 }, dead: { value: 0 } });
    expect(await statusOf(other)).toMatchObject({ dead: { value: many.length } });
    const listed = await suretyJson<{ dead: unknown[] }>(['dead', 'list', '-q', other, '-n', '500'], options);
    expect(listed.dead).toHaveLength(130);
    const { discarded } = await suretyJson<{ discarded: number }>(
      ['dead', 'discard', '--all', '-q', other, '-y'],
      options,
    );
    expect(discarded).toBe(130);
    expect(await statusOf(other)).toMatchObject({ ready: { value: 0 }, dead: { value: 0 } });
  });

  it('prints what migrate would do as definitions, and nothing once it is done', async () => {
    const queue = `q-${randomUUID().slice(0, 8)}`;
    const named = { env: { SURETY_URL: `${bare()}?queues=${queue}` } };
    const { stdout } = await surety(['migrate', '--print'], named);
    const { queues, exchanges } = JSON.parse(stdout) as Record<string, readonly unknown[]>;
    expect([queues?.length, exchanges?.length]).toEqual([32, 4]);
    expect(await suretyJson(['migrate'], named)).toMatchObject({ from: 0, to: 1 });
    expect(await surety(['migrate', '--print'], named)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'surety: up to date (version 1), nothing to run.\n',
    });
    expect((await surety(['migrate'], named)).stdout).toMatch(/up to date, version 1\n$/);
  });
});

describe('doctor on RabbitMQ', () => {
  interface Answer {
    readonly problems: number;
    readonly findings: readonly Finding[];
  }
  const examine = (url: string, code = 0): Promise<Answer> =>
    suretyJson<Answer>(['doctor'], { env: { SURETY_URL: url } }, code);

  it('finds no problem in a broker as it should be, and tells of dead letters and pauses', async () => {
    const queue = await madeQueue();
    await store.with(async (backend) => {
      await putDead(backend, [newJob(queue)]);
      await backend.pacing.pause(queue, { timeoutMs: 5000 });
    });
    const { findings, problems } = await examine(`${bare()}?queues=${queue}`);
    expect(problems).toBe(0);
    expect(findings).toContainEqual(expect.objectContaining({ check: `queue ${queue}`, level: 'ok' }));
    expect(findings.filter(({ check }) => check === 'queues')).toMatchObject([
      { level: 'note', what: `${queue} is paused` },
      { level: 'note', what: expect.stringMatching(/holds .*1 dead letters$/) },
    ]);
    const text = await surety(['doctor'], { env: { SURETY_URL: bare() } });
    expect(text.stdout).toMatch(/^ok +schema +.*up to date$/m);
    expect(text.stdout).toMatch(/^note +queues +RabbitMQ does not list its queues/m);
    expect(text.stdout).toMatch(/^0 problems, \d+ notes?$/m);
  });

  it('names the argument of a queue that somebody else declared', async () => {
    await using broker = await startRabbitmq();
    const declare =
      'rabbit_amqqueue:declare({resource, <<"/">>, queue, <<"surety.mail">>}, true, false, [], none, <<"x">>).';
    await broker.control('eval', declare);
    const url = `${broker.url}?queues=mail`;
    expectRefusal(
      await surety(['migrate', '--url', url]),
      2,
      /"surety\.mail" was declared otherwise: its x-.*prefix/,
    );
    const { findings } = await examine(url, 1);
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: 'queue mail',
        level: 'problem',
        what: expect.stringMatching(/^The queue "surety\.mail" was declared otherwise: its x-/),
        remedy: expect.stringContaining('another prefix'),
      }),
    );
  });
});

describe('verify on RabbitMQ', () => {
  const nothingLeft = async (): Promise<void> => {
    expect((await surety(['doctor', '--url', bare()])).stdout).toMatch(/^ok +trials/m);
  };

  it('proves cases in queues of its own and leaves everything as it was', async () => {
    const queue = await madeQueue();
    await store.with(async (backend) => {
      await putDead(backend, [newJob(queue)]);
      await put(backend, [newJob(queue)]);
    });
    const before = await statusOf(queue);
    const ended = await surety(['verify', '--quick', '--only', 'G6', '--url', bare()]);
    expect(ended.stderr).toMatch(/^In the queues surety-verify-\w+\.\*, which is removed at the end\.\n$/);
    expect(ended.stdout).toContain('0 failed');
    expect(ended.code).toBe(0);
    expect({ ...(await statusOf(queue)), oldestReadyAgeMs: 0 }).toEqual({ ...before, oldestReadyAgeMs: 0 });
    await nothingLeft();
  });

  it('runs cases that need a second process', async () => {
    const words = ['verify', '--quick', '--only', 'G1.4', '--url', bare()];
    const { cases, totals } = await suretyJson<{
      readonly totals: { readonly failed: number };
      readonly cases: readonly { readonly status: string }[];
    }>(words);
    expect(totals.failed).toBe(0);
    expect(cases.some(({ status }) => status === 'proven')).toBe(true);
    await nothingLeft();
  });

  it('removes its place when it is interrupted', async () => {
    const child = startSurety(['verify', '--only', 'G2', '--url', bare()]);
    await once(child.stderr!, 'data');
    child.kill('SIGINT');
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code).toBe(130);
    await nothingLeft();
  });
});

describe('a RabbitMQ store', () => {
  const COMMANDS = ['status', 'migrate', 'doctor', 'verify', 'demo'];
  const EVERY = [
    ['status', '-q', 'mail'],
    ['jobs', 'show', UNKNOWN_ID],
    ['dead', 'list'],
    ['dead', 'show', UNKNOWN_ID],
    ['dead', 'redrive', UNKNOWN_ID],
    ['dead', 'discard', '--all', '--yes'],
    ['pause', 'mail'],
    ['resume', 'mail'],
    ['demo'],
  ];

  it('that holds nothing of Surety gets nothing by looking', async () => {
    await using broker = await startRabbitmq();
    for (const words of EVERY)
      expectRefusal(await surety([...words, '--url', broker.url]), 2, /is missing.*Run: surety migrate\n/);
    expect(await broker.control('list_exchanges', '--quiet', 'name')).not.toContain('surety');
    expect((await surety(['migrate', '--url', broker.url])).stdout).toMatch(/version 0 to 1\n$/);
  });

  it.each(COMMANDS)('is refused by %s with a wrong password', async (command) => {
    const url = bare((each) => {
      each.password = PASSWORD;
    });
    expectRefusal(await surety([command, '--url', url]), 2, /403 \(ACCESS-REFUSED\).*credentials/);
  });

  it.each(COMMANDS)('is refused by %s in a virtual host that it has not', async (command) => {
    const url = bare((each) => {
      each.pathname = '/nowhere';
    });
    expectRefusal(await surety([command, '--url', url]), 2, /refused the virtual host.*path of the URL/);
  });

  it.each(COMMANDS)('is refused by %s where nobody listens', async (command) => {
    const port = await freePort();
    const url = bare((each) => {
      each.port = String(port);
      each.password = PASSWORD;
    });
    expectRefusal(await surety([command, '--url', url]), 2, /ECONNREFUSED.*Check that it runs/);
  });

  it.each(COMMANDS)('is refused by %s where something else answers', async (command) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { readonly port: number };
    const ended = await surety([command, '--url', `amqp://u:${PASSWORD}@127.0.0.1:${port}`]);
    await new Promise((resolve) => server.close(resolve));
    expectRefusal(ended, 2, /does not speak the protocol of RabbitMQ.*Check host/);
  });

  it('is refused on a wrong host, and by TLS where the broker has none', async () => {
    const lost = bare((url) => {
      url.hostname = 'no-such-host.invalid';
    });
    expectRefusal(await surety(['status', '--url', lost]), 2, /(ENOTFOUND|EAI_AGAIN)/);
    const secure = bare().replace('amqp:', 'amqps:');
    for (const command of ['status', 'doctor'])
      expectRefusal(await surety([command, '--url', secure]), 2, /TLS to RabbitMQ failed: ERR_SSL.*port/);
  });

  it.each([
    [`amqp://u:${PASSWORD}#/x@h:port/d`, /not a URL/],
    [`amqp://u:${PASSWORD}@h?queue=mail`, /no parameter "queue".*queues=NAME/],
    [`amqp://u:${PASSWORD}@h?queues=Mail!`, /No queue can be named "Mail!"/],
    [`amqp://u:${PASSWORD}@h?management=http://u:${PASSWORD}@h`, /names a user/],
    [`amqp://u:${PASSWORD}@h/%zz`, /%25/],
  ])('is refused where its URL cannot be read: %s', async (url, message) => {
    expectRefusal(await surety(['status', '--url', url]), 2, message);
  });

  it('that is away is told in time, by one line', async () => {
    await using broker = await startRabbitmq();
    await surety(['migrate', '--url', broker.url]);
    await broker.pause();
    const ended = await surety(['status', '-q', 'mail', '--timeout', '2s', '--url', broker.url]);
    await broker.resume();
    expectRefusal(ended, 2, /in time/);
  });
});

/** One line on standard error, nothing on standard output, no password. */
function expectRefusal(ended: Ended, code: number, message: RegExp): void {
  expect(ended.stderr).toMatch(message);
  expect(ended.stderr).toMatch(/^surety: [^\n]+\n$/);
  expect(ended.stdout).toBe('');
  expect(ended.code).toBe(code);
  expect(ended.stderr).not.toContain(PASSWORD);
}
