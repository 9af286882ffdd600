import { relative } from 'node:path';
import { accountOf, type Evidence, exitCodeOf } from './account.ts';
import { type BackendName, demoBackend, type PreparedBackend } from './backends.ts';
import { DELIVERIES, EVENTS } from './deliveries.ts';
import { type DemoFiles, freshDemoFiles } from './demo-files.ts';
import { type Effects, openEffects } from './effects.ts';
import { type EnqueueReport, enqueueDeliveries } from './enqueue-deliveries.ts';
import { poisonKeys } from './fate.ts';
import { startFlakyDependency } from './flaky-dependency.ts';
import { parseArguments } from './parse-arguments.ts';
import { type Progress, progressOn } from './progress.ts';
import { openObserver } from './read-store.ts';
import { accountLines, deadLetterLines, verdictLines } from './show-account.ts';
import { workOff } from './work-off.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  const given = parseArguments(words);
  if (given.kind === 'help') console.log(given.text);
  if (given.kind === 'problem') console.error(given.text);
  if (given.kind !== 'run') return given.kind === 'help' ? 0 : 2;
  const progress = progressOn(process.stdout);
  try {
    return await demo(given.backend, progress);
  } catch (error) {
    progress.print([`The demo broke off: ${error instanceof Error ? error.message : String(error)}`]);
    return 1;
  }
}

async function demo(name: BackendName, progress: Progress): Promise<number> {
  progress.print([
    `Surety on ${name}: ${DELIVERIES.length} real GitHub webhooks, ${EVENTS.length} job types`,
  ]);
  const files = freshDemoFiles(process.cwd());
  await using prepared = await demoBackend(name).prepare(files.folder);
  using effects = openEffects(files.effects);
  const enqueued = await enqueueDeliveries(await demoBackend(name).connect(prepared.address));
  progress.step('enqueue', enqueuedText(enqueued));
  const interrupted = await work(name, { prepared, files, effects, enqueued, progress });
  await using observer = await openObserver(name, prepared.address);
  const evidence: Evidence = {
    ...(await observer.evidence()),
    enqueued,
    effects: effects.all(),
    poison: poisonKeys(),
    interrupted,
  };
  const account = accountOf(evidence);
  const sections = [
    accountLines(account, evidence),
    deadLetterLines(evidence.dead),
    verdictLines(account),
    leftLines(prepared, files),
  ];
  progress.print(sections.flatMap((section) => ['', ...section]).concat(''));
  return exitCodeOf(account);
}

interface Surroundings {
  readonly prepared: PreparedBackend;
  readonly files: DemoFiles;
  readonly effects: Effects;
  readonly enqueued: EnqueueReport;
  readonly progress: Progress;
}

async function work(backend: BackendName, around: Surroundings): Promise<readonly string[]> {
  const { address } = around.prepared;
  await using dependency = await startFlakyDependency();
  await using observer = await openObserver(backend, address);
  const task = { backend, address, dependencyUrl: dependency.url, effectsFile: around.files.effects };
  const interrupted = await workOff({
    ...around,
    task,
    dependency,
    observer,
    total: around.enqueued.accepted.length,
  });
  around.progress.step('done', `the service refused ${dependency.refusals} calls, all of them tried again`);
  return interrupted;
}

function enqueuedText({ accepted, repeats }: EnqueueReport): string {
  const twice =
    repeats.sent === 0 ? '' : `; the first ${repeats.sent} sent twice: duplicates ${repeats.duplicates}`;
  return `accepted ${accepted.length}, one of them from a producer without the schema${twice}`;
}

function leftLines({ leftAt }: PreparedBackend, files: DemoFiles): readonly string[] {
  const here = (path: string): string => relative(process.cwd(), path);
  const jobs = leftAt === null ? [] : [`jobs ${here(leftAt)}`];
  return [
    `To look into: ${[...jobs, `effects ${here(files.effects)}`, `logs ${here(files.logOf('worker-*'))}`].join(', ')}`,
  ];
}
