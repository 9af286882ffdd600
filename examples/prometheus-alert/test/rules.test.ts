import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promtool } from '@surety/testbed';
import { expect, test } from 'vitest';

const here = fileURLToPath(new URL('..', import.meta.url));

test('Prometheus accepts the configuration and the rules', async () => {
  expect(await promtool(['check', 'config', 'prometheus.yml'], here)).toMatchObject({ ok: true });
});

test('the rules do what they say, on made-up figures', async () => {
  expect(await promtool(['test', 'rules', 'alerts.test.yml'], here)).toMatchObject({ ok: true });
});

test.each([
  ['on depth', 'expr: surety:queue_oldest_ready_age:max > 300', 'expr: surety:queue_ready:max > 300'],
  ['that never fires', 'surety:queue_oldest_ready_age:max > 300', 'surety:queue_oldest_ready_age:max > 3000'],
  [
    'on a sum over processes',
    'expr: max by (messaging_destination_name) (surety_queue_oldest',
    'expr: sum by (messaging_destination_name) (surety_queue_oldest',
  ],
])('an alert %s would be noticed', async (_name, right, wrong) => {
  const folder = await mkdtemp(join(tmpdir(), 'surety-rules-'));
  try {
    await cp(join(here, 'alerts.test.yml'), join(folder, 'alerts.test.yml'));
    const rules = await readFile(join(here, 'alerts.yml'), 'utf8');
    expect(rules).toContain(right);
    await writeFile(join(folder, 'alerts.yml'), rules.replace(right, wrong));
    const { ok, output } = await promtool(['test', 'rules', 'alerts.test.yml'], folder);
    expect(output).toContain('FAILED');
    expect(ok).toBe(false);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
