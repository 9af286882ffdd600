import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promtool, startPrometheus } from '@surety/testbed';
import { expect, test } from 'vitest';
import { eventually } from './eventually.ts';

const RULES = `groups:
  - name: all
    rules:
      - record: two
        expr: 1 + 1
      - record: nothing_left
        expr: 0 / vector(0)
`;

test('a private Prometheus evaluates rules and answers queries', async () => {
  await using server = await startPrometheus({
    config: 'global: { evaluation_interval: 100ms }\nrule_files: [rules.yml]\n',
    files: { 'rules.yml': RULES },
  });
  expect(server.version).toMatch(/^\d+\.\d+/);
  await eventually('the rule was evaluated', async () => (await server.query('two')).length === 1);
  expect(await server.query('two')).toEqual([{ labels: { __name__: 'two' }, value: 2 }]);
  await eventually('the other too', async () => (await server.query('nothing_left')).length === 1);
  expect((await server.query('nothing_left'))[0]?.value).toBeNaN();
  const { groups } = await server.ask<{ groups: { name: string }[] }>('/api/v1/rules');
  expect(groups.map(({ name }) => name)).toEqual(['all']);
  await expect(server.query('sum by (')).rejects.toThrow('Prometheus refused /api/v1/query');
  await expect(server.query('two[1m]')).rejects.toThrow('not an instant vector');
});

test('a configuration that cannot be read is told with what the server said', async () => {
  await expect(startPrometheus({ config: 'nonsense: true\n' })).rejects.toThrow(/did not start.*nonsense/s);
});

test('promtool says yes and no', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'surety-promtool-'));
  try {
    await writeFile(join(folder, 'good.yml'), RULES);
    await writeFile(join(folder, 'bad.yml'), RULES.replace('1 + 1', '1 +'));
    expect(await promtool(['check', 'rules', 'good.yml'], folder)).toMatchObject({ ok: true });
    const bad = await promtool(['check', 'rules', 'bad.yml'], folder);
    expect(bad.ok).toBe(false);
    expect(bad.output).toContain('bad.yml');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
