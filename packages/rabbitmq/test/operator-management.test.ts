import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Finding, StoreAddress } from '@surety/core/operator';
import { freePort, type RabbitmqServer, startRabbitmq } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clockFinding } from '../src/operator/check-clock.ts';
import { operator } from '../src/operator/index.ts';
import { accept, CALL, eventually, newJob } from './backends.ts';

let server: RabbitmqServer;
let management: string;
beforeAll(async () => {
  server = await startRabbitmq();
  management = await server.startManagement();
  await operator.migrate({ url: `${server.url}?queues=mail,bulk`, namespace: null }, CALL);
});
afterAll(() => server.destroy());

function at(api = management, url = server.url): StoreAddress {
  return { url: `${url}?management=${encodeURIComponent(api)}`, namespace: null };
}

async function find(check: string, address = at()): Promise<readonly Finding[]> {
  const findings = await operator.diagnose(address, { ...CALL, longTransactionMs: 1000 });
  for (const { level, remedy } of findings) expect(remedy === null).toBe(level === 'ok');
  return findings.filter((finding) => finding.check === check);
}

describe('with the management API', () => {
  it('a broker as it should be has no problem, and its queues are found without being named', async () => {
    const findings = await eventually('all queues are listed', async () => {
      const found = await operator.diagnose(at(), { ...CALL, longTransactionMs: 1000 });
      return found.some(({ what }) => what.startsWith('64 queues')) ? found : null;
    });
    expect(findings?.filter(({ level }) => level === 'problem')).toEqual([]);
    expect(findings?.map(({ check, level }) => `${level} ${check}`)).toEqual([
      'ok server',
      'note consumer-timeout',
      'ok latency',
      'ok publishing',
      'ok clock',
      'ok schema',
      'ok nodes',
      'ok feature-flags',
      'ok policies',
      'ok replicas',
      'ok queue bulk',
      'ok queue mail',
      'ok trials',
    ]);
  });

  it('a listing of queues has those that hold something', async () => {
    const backend = operator.backend(at());
    await backend.open({ ...CALL, notify: () => undefined });
    try {
      await accept(backend, [newJob('bulk')]);
      expect(await backend.queues(CALL)).toEqual(['bulk']);
    } finally {
      await backend.close({ graceMs: 1000 });
    }
  });

  it.each([
    [
      '{"message-ttl":60000}',
      /policy undercut sets message-ttl 60000 on surety\.mail\S*,.* more: it ends jobs/,
    ],
    ['{"delivery-limit":5}', /sets delivery-limit 5 on .*: it takes jobs away/],
    ['{"max-length":10}', /sets max-length 10 on .*: it refuses jobs/],
    ['{"expires":60000}', /sets expires 60000 on .*: it deletes queues/],
  ])('a policy %s is seen, and what of it undercuts nothing is not', async (definition, what) => {
    const whole = definition.replace('}', ',"delivery-limit":2147483647,"dead-letter-exchange":"other"}');
    const set = definition.includes('delivery-limit') ? definition : whole;
    await server.control('set_policy', 'undercut', '^surety\\.mail', set, '--apply-to', 'queues');
    try {
      // The broker shows what was set some seconds ago.
      const found = await eventually('the policy is listed', async () => {
        const findings = await find('policies');
        return what.test(findings[0]?.what ?? '') ? findings : null;
      });
      expect(found).toMatchObject([
        { level: 'problem', remedy: expect.stringContaining('rabbitmqctl clear_policy undercut') },
      ]);
    } finally {
      await server.control('clear_policy', 'undercut');
    }
  });

  it.each([
    ['memory', 'vm_memory_high_watermark'],
    ['disk', 'disk'],
  ] as const)('an alarm of %s is seen, and that nothing can be enqueued', async (resource, remedy) => {
    const verb = `{{resource_limit, ${resource}, node()}, []}`;
    await server.control('eval', `rabbit_alarm:set_alarm(${verb}).`);
    try {
      const [found] =
        (await eventually('the alarm is shown', async () => {
          const findings = await find(resource);
          return findings.length > 0 ? findings : null;
        })) ?? [];
      expect(found).toMatchObject({ level: 'problem', remedy: expect.stringContaining(remedy) });
      expect(await find('publishing')).toMatchObject([{ level: 'problem' }]);
    } finally {
      await server.control('eval', `rabbit_alarm:clear_alarm({resource_limit, ${resource}, node()}).`);
    }
  });

  it('a user that it does not let in is told how to be, and the rest is looked at', async () => {
    await server.control('add_user', 'plain', 'plain-secret');
    await server.control('set_permissions', 'plain', '.*', '.*', '.*');
    const url = new URL(server.url);
    [url.username, url.password] = ['plain', 'plain-secret'];
    const address = at(management, url.href);
    expect(await find('management', address)).toMatchObject([
      { level: 'problem', remedy: expect.stringContaining('set_user_tags') },
    ]);
    expect(await find('publishing', address)).toMatchObject([{ level: 'ok' }]);
  });

  it('that is away, or is none, is one finding', async () => {
    const away = at(`http://127.0.0.1:${await freePort()}`);
    expect(await find('management', away)).toMatchObject([
      { level: 'problem', what: 'The management API cannot be reached.' },
    ]);
    await using other = await answeringEverything('<html>hello</html>');
    expect(await find('management', at(other.url))).toMatchObject([
      { level: 'problem', what: 'What answers there is no management API.' },
    ]);
  });
});

it('a clock that is off is seen, by what is certain of it', () => {
  expect(clockFinding(-900, 900)).toMatchObject({ level: 'ok' });
  expect(clockFinding(900, 960)).toMatchObject({ level: 'ok' });
  expect(clockFinding(3_600_000, 3_600_040)).toMatchObject({
    level: 'note',
    what: "the broker's clock is 3600020 ms ahead of this machine's",
  });
  expect(clockFinding(-5040, -5000)).toMatchObject({
    level: 'note',
    what: "the broker's clock is 5020 ms behind this machine's",
  });
});

async function answeringEverything(text: string): Promise<AsyncDisposable & { readonly url: string }> {
  const other: Server = createServer((_request, response) => {
    response.end(text);
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(other.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        other.close(() => resolve());
        other.closeAllConnections();
      }),
  };
}
