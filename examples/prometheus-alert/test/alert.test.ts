import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@surety/core';
import type { Backend } from '@surety/core/contract';
import { sqlite } from '@surety/sqlite';
import { freePort, type Prometheus, runProgram, startPrometheus } from '@surety/testbed';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resizeImage } from '../jobs.ts';
import { historyOf, replaced } from './rule-history.ts';

const example = new URL('..', import.meta.url);
const text = (name: string): Promise<string> => readFile(new URL(name, example), 'utf8');

/** What the queue of images is kept above while it is worked, at up to a thousand a second. */
const DEEP = 300;
/** In place of 5 minutes. A queue of this depth that is worked has jobs of about a second. */
const LIMIT_SECONDS = 10;

let folder = '';
let environment: Record<string, string> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'surety-prometheus-alert-'));
  environment = { DATABASE: join(folder, 'jobs.db'), METRICS_PORT: String(await freePort()) };
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Awaits what Prometheus will say; the limit only ends a test that would never end. */
async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 50_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`never happened: ${what}`);
    await sleep(50);
  }
}

async function scaledPrometheus(): Promise<Prometheus> {
  const rules = await text('alerts.yml');
  const config = replaced(
    await text('prometheus.yml'),
    '127.0.0.1:9464',
    `127.0.0.1:${environment['METRICS_PORT']}`,
  );
  return startPrometheus({
    config: replaced(
      replaced(config, 'scrape_interval: 15s', 'scrape_interval: 1s'),
      'evaluation_interval: 15s',
      'evaluation_interval: 250ms',
    ),
    files: {
      'alerts.yml': replaced(
        rules,
        'age:max > 300\n        for: 1m\n',
        `age:max > ${LIMIT_SECONDS}\n        for: 1s\n`,
      ),
    },
  });
}

async function operate(...args: string[]): Promise<void> {
  await using program = runProgram(new URL('operate.ts', example), { args, env: environment });
  await program.says(`done: ${args[0]} ${args[1]}`);
  expect(await program.exited).toEqual({ code: 0, signal: null });
}

/** Keeps the queue of images deep while it is worked, until `enough`. */
async function keepDeep(backend: Backend, enough: () => Promise<boolean>): Promise<void> {
  await using client = createClient({ backend });
  await client.start();
  const wave = Array.from({ length: 2 * DEEP }, (_, image) => ({ job: resizeImage, input: { image } }));
  const deadline = performance.now() + 50_000;
  while (!(await enough())) {
    if (performance.now() > deadline) throw new Error('the deep queue was not evaluated often enough');
    const { ready } = await backend.counts('images', { timeoutMs: 5000 });
    if ((ready.value ?? 0) < 2 * DEEP) await client.enqueueMany(wave);
    await sleep(20);
  }
}

test('a deep queue that drains stays quiet; a shallow one with an old job fires, and clears when it is done', async () => {
  await using program = runProgram(new URL('main.ts', example), { env: environment });
  await program.says('metrics on');
  await using prometheus = await scaledPrometheus();
  const age = (queue: string) =>
    historyOf(prometheus, `surety:queue_oldest_ready_age:max{messaging_destination_name="${queue}"}`);
  const depth = (queue: string) =>
    historyOf(prometheus, `surety:queue_ready:max{messaging_destination_name="${queue}"}`);
  const alerts = (queue: string, state: string) =>
    historyOf(
      prometheus,
      `ALERTS{alertname="SuretyOldestJobTooOld",messaging_destination_name="${queue}",alertstate=~"${state}"}`,
    );
  const firing = async (): Promise<readonly (string | undefined)[]> =>
    (await prometheus.query('ALERTS{alertname="SuretyOldestJobTooOld",alertstate="firing"}')).map(
      ({ labels }) => labels['messaging_destination_name'],
    );

  // Both sides at the same time, on the same rule: one forgotten invoice, and a queue of images that is deep and worked.
  await operate('pause', 'invoices');
  await operate('enqueue', 'invoices');
  const deepEvaluations = async (): Promise<number> =>
    (await depth('images')).filter(({ value }) => value > DEEP).length;
  await keepDeep(sqlite(environment['DATABASE'] ?? ''), async () => (await deepEvaluations()) >= 20);
  await eventually('the images are all done', async () => (await depth('images')).at(-1)?.value === 0);
  let fired: readonly (string | undefined)[] = [];
  await eventually('the old invoice fires', async () => {
    fired = await firing();
    return fired.length > 0;
  });
  expect(fired).toEqual(['invoices']);

  // Fired by one job that was older than the limit, after it was pending.
  const invoices = await depth('invoices');
  expect(Math.max(...invoices.map(({ value }) => value))).toBe(1);
  const [firstFiring] = await alerts('invoices', 'firing');
  const [firstPending] = await alerts('invoices', 'pending');
  expect(firstPending?.at).toBeLessThan(firstFiring?.at ?? 0);
  const ageThen = (await age('invoices')).find(({ at }) => at === firstPending?.at);
  expect(ageThen?.value).toBeGreaterThan(LIMIT_SECONDS);

  await operate('resume', 'invoices');
  await program.says('was sent');
  await eventually('the invoice is done, as Prometheus sees it', async () => {
    return (await age('invoices')).at(-1)?.value === 0;
  });
  await eventually('the alert clears', async () => (await firing()).length === 0);

  // The same rule looked at the images all the time, at every depth, and never was so much as pending.
  const ageOfImages = new Map((await age('images')).map(({ at, value }) => [at, value]));
  const deep = (await depth('images')).filter(({ value }) => value > DEEP);
  expect(deep.length).toBeGreaterThanOrEqual(20);
  for (const { at } of deep) expect(ageOfImages.get(at)).toBeLessThan(LIMIT_SECONDS);
  expect(await alerts('images', 'pending|firing')).toEqual([]);

  program.kill('SIGTERM');
  expect(await program.exited).toEqual({ code: 0, signal: null });
}, 120_000);
