import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { surety } from './run-surety.ts';
import { makeStore, type StoreKind, type TestStore } from './test-stores.ts';

/** The commands that the demo says one can try, without `npx surety`. */
function commandsIn(stdout: string): readonly (readonly string[])[] {
  return [...stdout.matchAll(/^ {2}npx surety (.+)$/gm)].map(([, words = '']) => words.split(' '));
}

describe.each<StoreKind>(['sqlite', 'postgres', 'rabbitmq'])('demo on %s', (kind) => {
  let store: TestStore;

  beforeAll(async () => {
    store = await makeStore(kind);
    if (kind !== 'sqlite') await store.migrate();
  });
  afterAll(() => store.destroy());

  it('adds up, and leaves what the commands that it names work on', { timeout: 180_000 }, async () => {
    const words = kind === 'sqlite' ? ['demo'] : ['demo', '--url', store.url];
    // Not even where the environment names a store: the demo's jobs are for a place that was meant for them.
    const unmeant = { SURETY_URL: 'postgres://nobody@127.0.0.1:1/nothing' };
    const run = await surety(words, { cwd: store.folder, env: unmeant });
    expect(run.stderr).toBe('');
    expect(run.stdout).toContain('The account adds up: accepted 330 = completed 321 + dead 9, lost 0');
    expect(run.code).toBe(0);

    const url = kind === 'sqlite' ? /export SURETY_URL=(\S+)/.exec(run.stdout)?.[1] : store.url;
    expect(url).toBeDefined();
    const options = { cwd: store.folder, env: { SURETY_URL: url ?? '' } };
    const commands = commandsIn(run.stdout);
    expect(commands.map(([first, second]) => `${first} ${second}`)).toEqual([
      'status --queue',
      'dead list',
      'dead show',
      'jobs show',
      'dead redrive',
      'doctor undefined',
    ]);
    const ended: Record<string, string> = {};
    for (const command of commands) {
      const asking = command[1] === 'redrive';
      const { code, stdout, stderr } = await surety(asking ? [...command, '--yes'] : command, options);
      expect(stderr).toBe('');
      expect(code).toBe(0);
      ended[command.slice(0, 2).join(' ')] = stdout;
    }
    expect(ended['status --queue']).toMatch(
      // RabbitMQ does not tell what is leased, and no figure of what moves just then.
      kind === 'rabbitmq' ? /^webhooks\S* +0 +>=0 +\S+ +>=9 /m : /^webhooks\S* +0 +0 +0 +9 +-$/m,
    );
    expect(ended['dead list']?.trimEnd().split('\n')).toHaveLength(10);
    // RabbitMQ lists what died first, the others what died last.
    const [reason, redriven] = kind === 'rabbitmq' ? ['[A-Z_]+', '\\d'] : ['HANDLER_FAILED', '4'];
    expect(ended['dead show']).toMatch(new RegExp(`^died +.*, reason ${reason}$`, 'm'));
    expect(ended['jobs show']).toMatch(/^state +dead$/m);
    expect(ended['dead redrive']).toMatch(new RegExp(`^redriven ${redriven}\n$`));
    expect(ended['doctor']).toMatch(/note +queues +webhooks\S* holds (>=)?\d dead letters/);
  });
});
