import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, createWorker, defineJob, handle } from '@surety/core';
import { openTrace, recordFinal } from '@surety/core/trace';
import type { HistoryReport } from '@surety/history';
import { sqlite } from '@surety/sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { surety, suretyJson } from './run-surety.ts';

const JOBS = 20;
let folder: string;

/** Jobs enqueued and worked off, each side with a trace of its own. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'surety-check-'));
  const backend = sqlite(join(folder, 'jobs.db'));
  const job = defineJob('mail.send', { retry: { maxAttempts: 2, base: '10ms' } });
  const client = createClient({ backend, trace: join(folder, 'producer.jsonl') });
  const items = Array.from({ length: JOBS }, (_, number) => ({ job, input: { number } }));
  const ids = (await client.enqueueMany(items)).flatMap(({ id }) => id ?? []);
  let ended = 0;
  const done = Promise.withResolvers<void>();
  const worker = createWorker({
    backend,
    log: 'none',
    trace: join(folder, 'worker.jsonl'),
    handlers: [
      handle(job, (_, ctx) => {
        ctx.effect('mail');
        if (ids.indexOf(ctx.id) === 0) throw new Error('no such address');
      }),
    ],
  });
  worker.on('attempt', ({ outcome }) => {
    if (outcome !== 'retried') ended += 1;
    if (ended === JOBS) done.resolve();
  });
  await worker.start();
  await done.promise;
  const trace = openTrace(join(folder, 'final.jsonl'));
  await recordFinal(trace, backend, { queues: ['default'], ids });
  trace.close();
  await worker.stop();
  await client.close();
});
afterAll(() => rm(folder, { recursive: true }));

const files = (...names: string[]): string[] => names.map((name) => join(folder, `${name}.jsonl`));

it('finds a run whole, and shows its account', async () => {
  const { code, stdout, stderr } = await surety(['check', ...files('producer', 'worker', 'final')]);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^Whole: nothing that the promises rule out\.$/m);
  expect(stdout).toMatch(/^accepted +20$/m);
  expect(stdout).toMatch(/^completed +19$/m);
  expect(stdout).toMatch(/^dead +1$/m);
  expect(stdout).toMatch(/^effects +21$/m);
  expect(stdout).not.toContain('\u001b');
  expect(code).toBe(0);
});

it('says what is missing without the final state', async () => {
  const { code, stdout } = await surety(['check', ...files('producer', 'worker')]);
  expect(code).toBe(0);
  expect(stdout).toContain('The final state was not recorded');
});

it('shows what a run has lost, with the lines that prove it', async () => {
  // Without what the worker did, the accepted jobs are gone.
  const report = await suretyJson<HistoryReport>(['check', ...files('producer', 'final')], {}, 1);
  expect(report).toMatchObject({ whole: false, complete: true, account: { accepted: JOBS, lost: JOBS - 1 } });
  expect(report.findings[0]).toMatchObject({ kind: 'lost' });
  const { code, stdout } = await surety(['check', '-n', '2', ...files('producer', 'final')]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^ {2}\S+producer\.jsonl:\d+$/m);
  expect(stdout).toContain(`And ${JOBS - 3} more: raise --limit.`);
});

it('does not mind untraced producers when told so', async () => {
  const { code } = await surety(['check', ...files('worker', 'final'), '--untraced-producers']);
  expect(code).toBe(0);
});

it('takes a torn last line for what it is', async () => {
  const whole = await readFile(join(folder, 'worker.jsonl'), 'utf8');
  const torn = join(folder, 'torn.jsonl');
  await writeFile(torn, `${whole}{"kind":"claim","call":9`);
  const { code, stdout } = await surety(['check', torn, ...files('producer', 'final')]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/, 1 torn$/m);
});

it.each([
  ['a file that is not there', async () => join(folder, randomUUID())],
  ['a folder', async () => folder],
  ['what is no trace', () => written('hello\n')],
  ['an empty file', () => written('')],
  [
    'a later format',
    () => written('{"kind":"open","v":99,"host":"h","pid":1,"wall":"","process":"p","seq":1,"at":1}\n'),
  ],
  [
    'many torn lines',
    async () => written(`${await readFile(join(folder, 'worker.jsonl'), 'utf8')}{"\n{"\n{"\n`),
  ],
])('refuses %s with one line', async (_, make) => {
  const { code, stdout, stderr } = await surety(['check', await make()]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^surety: [^\n]+\n$/);
});

it.each([
  [[]],
  [['--moves', 'sideways', 'x.jsonl']],
  [['--reclaim-within', 'soon', 'x.jsonl']],
  [['--limit', 'all', 'x.jsonl']],
])('refuses the arguments %j', async (words) => {
  expect((await surety(['check', ...words])).code).toBe(2);
});

async function written(text: string): Promise<string> {
  const file = join(folder, `${randomUUID()}.jsonl`);
  await writeFile(file, text);
  return file;
}
