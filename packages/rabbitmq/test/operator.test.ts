import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Backend } from '@surety/core/contract';
import type { Finding, StoreAddress } from '@surety/core/operator';
import { type RabbitmqServer, startRabbitmq } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operator } from '../src/operator/index.ts';
import { accept, CALL, claimAll, complete, freshQueue, newJob, opened } from './backends.ts';
import { withChannel } from './raw-channel.ts';

let server: RabbitmqServer;
beforeAll(async () => {
  server = await startRabbitmq();
});
afterAll(() => server.destroy());

const YEAR_MS = 365 * 86_400_000;

function at(namespace: string | null, queues: readonly string[] = [], url = server.url): StoreAddress {
  return { url: queues.length === 0 ? url : `${url}?queues=${queues.join(',')}`, namespace };
}

async function diagnose(address: StoreAddress): Promise<readonly Finding[]> {
  const findings = await operator.diagnose(address, { ...CALL, longTransactionMs: 1000 });
  for (const { level, remedy } of findings) expect(remedy === null).toBe(level === 'ok');
  return findings;
}

/** All that stands in the broker under a prefix. */
async function namesUnder(prefix: string): Promise<readonly string[]> {
  const tables = [
    await server.control('list_queues', '--quiet', '--no-table-headers', 'name'),
    await server.control('list_exchanges', '--quiet', '--no-table-headers', 'name'),
  ];
  return tables.flatMap((table) => table.split('\n')).filter((name) => name.startsWith(prefix));
}

describe('an address', () => {
  it.each([
    ['amqp://user:secret-word@host:5673/jobs?queues=a', null, 'amqp://user@host:5673/jobs (prefix surety)'],
    ['amqps://host/?management=https://host', 'mine', 'amqps://host (prefix mine)'],
    ['amqp://user:secret%25word@host?heartbeat=9', null, 'amqp://user@host (prefix surety)'],
  ])('%s is told without anything secret', (url, namespace, told) => {
    expect(operator.describe({ url, namespace })).toBe(told);
  });

  it.each([
    'amqp',
    'http://user:secret-word@host',
    'amqp://user:secret-word@host?queue=mail',
    'amqp://user:secret-word@host?queues=Not%20Allowed',
    'amqp://user:secret-word@host?management=host:15672',
    'amqp://user:secret-word@host?management=http://user:secret-word@host',
    'amqp://user:secret-word%zz@host?management=http://host',
    'amqp://user:secret-word@host/%zz',
    'amqp://user:secret-word#/x@h:port/d',
  ])('%s is none, and is not repeated', (url) => {
    const refusal = (): unknown => operator.describe({ url, namespace: null });
    expect(refusal).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }) as Error);
    expect(refusal).not.toThrow(/secret-word/);
  });
});

describe('the topology', () => {
  it('is made by migrate, twice is once, and what was deleted is made again', async () => {
    const address = at('made', ['mail', 'bulk']);
    const before = await operator.schema(address, CALL);
    expect(before).toMatchObject({ version: 0, newest: 1 });
    expect(await namesUnder('made.')).toEqual([]);
    await operator.migrate(address, CALL);
    await operator.migrate(address, CALL);
    expect(await operator.schema(address, CALL)).toEqual({ version: 1, newest: 1, script: '' });
    expect(await namesUnder('made.mail.delay.28')).toHaveLength(2);

    await withChannel(server.url, (channel) => channel.deleteQueue('made.mail.delay.1'));
    expect(await operator.schema(address, CALL)).toMatchObject({ version: 0 });
    await operator.migrate(address, CALL);
    await using backend = await opened({ url: server.url, prefix: 'made', declare: false, queues: ['mail'] });
    // 128 ms: waits in the level that was deleted.
    await accept(backend, [newJob('mail', { delayMs: 128 })]);
    await complete(backend, await claimAll(backend, 'mail', 1));
  });

  it('can be imported as a file of definitions, and an application that may not declare works with it', async () => {
    const queue = freshQueue();
    const address = at('imported', [queue]);
    const { script } = await operator.schema(address, CALL);
    expect(await namesUnder('imported.')).toEqual([]);
    await server.control('import_definitions', await fileForBroker(script));
    expect(await operator.schema(address, CALL)).toMatchObject({ version: 1, script: '' });

    await server.control('add_user', 'application', 'of-no-rights');
    // To configure: only queues of its own connections, whose names the broker makes up.
    await server.control('set_permissions', 'application', '^amq\\.gen', '.*', '.*');
    const url = new URL(server.url);
    [url.username, url.password] = ['application', 'of-no-rights'];
    await using backend = await opened({
      url: url.href,
      prefix: 'imported',
      declare: false,
      queues: [queue],
    });
    const jobs = [0, 64, 200, YEAR_MS].map((delayMs) => newJob(queue, { delayMs }));
    await accept(backend, jobs);
    const [first, ...others] = await claimAll(backend, queue, 3);
    if (first === undefined) throw new Error('nothing was claimed');
    await complete(backend, others);
    const error = { code: 'BURIED', name: 'Error', message: 'it broke', stack: null, attempt: 1 };
    await backend.settle([{ kind: 'bury', lease: first, error }], CALL);
    const counts = await backend.counts(queue, CALL);
    expect([counts.ready.value, counts.scheduled.value, counts.dead.value]).toEqual([0, 1, 1]);

    // What an application that declares makes is the same to the last argument.
    await using maker = await opened({ url: server.url, prefix: 'imported', queues: [queue] });
    await accept(maker, [newJob(queue, { delayMs: YEAR_MS })]);
    const found = await diagnose(address);
    expect(found.filter(({ check }) => check === `queue ${queue}`)).toMatchObject([
      { level: 'ok', what: expect.stringContaining('delays of up to 397 days') },
    ]);
  });

  it('is the one that the adapter makes', async () => {
    const [made, imported] = ['bymigrate', 'byadapter'];
    await operator.migrate(at(made, ['mail']), CALL);
    {
      await using backend = await opened({ url: server.url, prefix: imported, queues: ['mail'] });
      await accept(backend, [newJob('mail', { delayMs: YEAR_MS })]);
    }
    const tableOf = async (prefix: string): Promise<readonly string[]> => {
      const tables = [
        await list('list_queues', 'name', 'durable', 'auto_delete', 'type', 'arguments'),
        await list('list_exchanges', 'name', 'durable', 'auto_delete', 'type', 'arguments'),
      ];
      const lines = tables.flatMap((table) => table.split('\n')).filter((line) => line.startsWith(prefix));
      return lines.map((line) => line.replaceAll(prefix, '')).sort();
    };
    expect(await tableOf(made)).toEqual(await tableOf(imported));
    expect((await tableOf(made)).length).toBeGreaterThan(30);
  });

  it('is not touched where somebody else declared it otherwise, and the argument is named (B124)', async () => {
    await withChannel(server.url, (channel) =>
      channel.assertQueue('theirs.mail', {
        durable: true,
        arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': 5 },
      }),
    );
    const address = at('theirs', ['mail']);
    await expect(operator.migrate(address, CALL)).rejects.toMatchObject({
      code: 'STORE_UNSUITABLE',
      message: expect.stringMatching(/queue "theirs\.mail" was declared otherwise: its x-[a-z-]+ differs/),
      remedy: expect.stringContaining('choose another prefix'),
    });
    expect(await diagnose(address)).toContainEqual(
      expect.objectContaining({
        check: 'queue mail',
        level: 'problem',
        what: expect.stringMatching(/"theirs\.mail".*x-/),
      }),
    );
  });

  function list(...words: readonly string[]): Promise<string> {
    const [what = '', ...columns] = words;
    return server.control(what, '--quiet', '--no-table-headers', ...columns);
  }
});

describe('looking', () => {
  it('makes nothing, and says what is missing', async () => {
    const address = at('unmade', ['mail']);
    await expect(operator.backend(address).open({ ...CALL, notify: () => undefined })).rejects.toMatchObject({
      code: 'SCHEMA_MISSING',
      remedy: expect.stringContaining('surety migrate'),
    });
    expect((await diagnose(address)).map(({ check, level }) => `${level} ${check}`)).toEqual([
      'ok server',
      'note consumer-timeout',
      'ok latency',
      'ok publishing',
      'ok clock',
      'problem schema',
      'note management',
      'note queue mail',
      'ok trials',
    ]);
    expect(await namesUnder('unmade')).toEqual([]);
  });

  it('finds the queues that the address names, where they hold something or are paused', async () => {
    await operator.migrate(at('named', ['mail', 'calm', 'asleep']), CALL);
    const backend = operator.backend(at('named', ['mail', 'calm', 'asleep', 'mistyped']));
    await backend.open({ ...CALL, notify: () => undefined });
    try {
      await accept(backend, [newJob('mail')]);
      await backend.pacing.pause('asleep', CALL);
      expect(await backend.queues(CALL)).toEqual(['asleep', 'mail']);
    } finally {
      await backend.close({ graceMs: 1000 });
    }
    const nameless = operator.backend(at('named'));
    await nameless.open({ ...CALL, notify: () => undefined });
    await expect(nameless.queues(CALL)).rejects.toMatchObject({
      code: 'CAPABILITY_MISSING',
      remedy: expect.stringContaining('?queues='),
    });
    await nameless.close({ graceMs: 1000 });
  });

  it('sees that the broker takes nothing in', async () => {
    await operator.migrate(at('full'), CALL);
    await server.setMemoryAlarm(true);
    try {
      const [found] = (await diagnose(at('full'))).filter(({ check }) => check === 'publishing');
      expect(found).toMatchObject({ level: 'problem', remedy: expect.stringContaining('memory or disk') });
    } finally {
      await server.setMemoryAlarm(false);
    }
  });
});

describe('a trial', () => {
  it('works in queues of its own, is told of meanwhile, and leaves none', async () => {
    const address = at('tried');
    const before = await namesUnder('tried');
    const trials = async (): Promise<Finding | undefined> =>
      (await diagnose(address)).find(({ check }) => check === 'trials');
    {
      await using trial = await operator.trial(address, CALL);
      const prefix = /^the queues (\S+)\.\*$/.exec(trial.where)?.[1] ?? '';
      expect(prefix).toMatch(/^tried-verify-[0-9a-f]{8}$/);
      const [here, elsewhere] = [trial.backend(), await otherProcess(trial.connect)];
      for (const backend of [here, elsewhere]) await backend.open({ ...CALL, notify: () => undefined });
      const [one, two] = [freshQueue(), freshQueue()];
      await accept(here, [newJob(one), newJob(one, { delayMs: 5000 })]);
      await accept(elsewhere, [newJob(two)]);
      await here.pacing.pause(one, CALL);
      await elsewhere.close({ graceMs: 1000 });
      expect((await namesUnder(prefix)).length).toBeGreaterThan(10);
      expect(await trials()).toMatchObject({ level: 'note', what: expect.stringContaining(prefix) });
      // Looking at them takes none away.
      expect(await trials()).toMatchObject({ level: 'note', what: expect.stringContaining(prefix) });
    }
    expect(await trials()).toMatchObject({ level: 'ok' });
    expect(await namesUnder('tried')).toEqual(before);
  });

  /** As a process of its own would: by the module and what JSON leaves of the argument. */
  async function otherProcess(connect: {
    readonly module: string;
    readonly args: unknown;
  }): Promise<Backend> {
    const loaded = (await import(connect.module)) as { readonly connect: (args: unknown) => Backend };
    return loaded.connect(JSON.parse(JSON.stringify(connect.args)));
  }
});

/** Where the user of the broker can read it. */
async function fileForBroker(text: string): Promise<string> {
  const said = await server.control('eval', 'application:get_env(rabbit, enabled_plugins_file).');
  const folder = join(/"([^"]+)"/.exec(said)?.[1] ?? '', '..', 'definitions');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'definitions.json'), text);
  return join(folder, 'definitions.json');
}
