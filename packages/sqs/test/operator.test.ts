import { type SqsServer, startSqs } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operator } from '../src/operator/index.ts';
import { CALL, claimOne, newJob } from './emulator.ts';

let server: SqsServer;
beforeAll(async () => {
  server = await startSqs({ durable: false });
});
afterAll(() => server.destroy());

function at(
  parameters = '',
  namespace: string | null = null,
): { readonly url: string; readonly namespace: string | null } {
  return { url: `sqs:us-east-1?endpoint=${server.endpoint}${parameters}`, namespace };
}

describe('an address', () => {
  test('is told without anything secret', () => {
    expect(operator.describe({ url: 'sqs:eu-central-1', namespace: null })).toBe(
      'sqs:eu-central-1 (prefix surety)',
    );
    expect(operator.describe(at('', 'mine'))).toBe(
      `sqs:us-east-1 at ${new URL(server.endpoint).host} (prefix mine)`,
    );
  });

  test.each([
    'sqs:',
    'sqs://eu-central-1',
    'sqs:eu-central-1?queue=mail',
    'sqs:eu-central-1?endpoint=ftp://x',
  ])('%s is none', (url) => {
    expect(() => operator.describe({ url, namespace: null })).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID' }) as Error,
    );
  });
});

describe('the queues that an address names', () => {
  test('are made by migrate, and are a schema of version 1 from then on', async () => {
    const address = at('&queues=mail,bulk', 'made');
    const before = await operator.schema(address, CALL);
    expect(before).toMatchObject({ version: 0, newest: 1 });
    expect(before.script.match(/--queue-name made-mail(-DEAD|-DELAY)? /g)).toHaveLength(3);
    await operator.migrate(address, CALL);
    await operator.migrate(address, CALL);
    expect(await operator.schema(address, CALL)).toEqual({ version: 1, newest: 1, script: '' });
  });

  test('are none where it names none', async () => {
    expect(await operator.schema(at('', 'empty'), CALL)).toEqual({ version: 0, newest: 0, script: '' });
  });
});

test('a diagnosis looks at every queue and changes nothing', async () => {
  const address = at('&queues=mail', 'seen');
  await operator.migrate(address, CALL);
  const findings = await operator.diagnose(address, { ...CALL, longTransactionMs: 1000 });
  expect(findings.filter(({ level }) => level !== 'ok')).toEqual([]);
  expect(findings.map(({ check }) => check)).toEqual(['service', 'clock', 'queue mail', 'trials']);
});

test('a trial works in queues of its own, and leaves none', async () => {
  {
    await using trial = await operator.trial(at(), CALL);
    const backend = trial.backend();
    await backend.open({ ...CALL, notify: () => undefined });
    await backend.enqueue([newJob('mail')], CALL);
    const lease = await claimOne(backend, 'mail');
    await backend.settle([{ kind: 'complete', lease, outcome: 'completed' }], CALL);
    await backend.close({ graceMs: 4000 });
  }
  const findings = await operator.diagnose(at('', 'other'), { ...CALL, longTransactionMs: 1000 });
  expect(findings.find(({ check }) => check === 'trials')?.level).toBe('ok');
});
