import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Capabilities, SuretyError } from '@surety/core';
import type { StoreAddress } from '@surety/core/operator';
import { accountOf, type Evidence, exitCodeOf } from './account.ts';
import { DELIVERIES, EVENTS } from './deliveries.ts';
import { type DemoFiles, freshDemoFiles } from './demo-files.ts';
import { type Effects, openEffects } from './effects.ts';
import { type EnqueueReport, enqueueDeliveries } from './enqueue-deliveries.ts';
import { poisonKeys } from './fate.ts';
import { startFlakyDependency } from './flaky-dependency.ts';
import { QUEUE } from './jobs.ts';
import { type Output, type Progress, progressOn } from './progress.ts';
import { openObserver } from './read-store.ts';
import { accountLines, deadLetterLines, verdictLines } from './show-account.ts';
import { commandLines, fileLines } from './show-left.ts';
import { connect, type DemoStore, makeSchema, storeAt, withQueue } from './stores.ts';
import { workOff } from './work-off.ts';

/** Where the demo keeps its jobs, and where it writes. */
export interface DemoOptions {
  /** A store with Surety's schema. The jobs go into a queue of their own and stay. Null: a new SQLite file in the demo's folder. */
  readonly address: StoreAddress | null;
  /** True: the store goes with the demo, so that there is nothing to look into afterwards. */
  readonly passing?: boolean;
  readonly output: Output;
}

/**
 * Works real webhooks in several processes, kills one half way and accounts for every job. Resolves with 0 when the account adds
 * up, else 1. Throws when store or workers fail. Leaves its files in `surety-demo` of the working directory.
 */
export async function runDemo({ address, passing = false, output }: DemoOptions): Promise<number> {
  const progress = progressOn(output);
  const files = freshDemoFiles(process.cwd(), address === null);
  const { store: found, queue } = address === null ? await inFolder(files) : elsewhere(address, passing);
  const { moves } = await refuseMissingSchema(found);
  const store = await withQueue(found, queue);
  progress.print([
    `Surety on ${store.name}: ${DELIVERIES.length} real GitHub webhooks, ${EVENTS.length} job types`,
  ]);
  using effects = openEffects(files.effects);
  const enqueued = await enqueueDeliveries(await connect(store), queue);
  progress.step('enqueue', enqueuedText(enqueued));
  const interrupted = await work({ store, queue, files, effects, enqueued, progress });
  await using observer = await openObserver(store, queue);
  const evidence: Evidence = {
    ...(await observer.evidence()),
    enqueued,
    effects: effects.all(),
    poison: poisonKeys(),
    interrupted,
    moves,
  };
  const account = accountOf(evidence);
  const sections = [
    accountLines(account, evidence),
    deadLetterLines(evidence.dead),
    verdictLines(account),
    fileLines(store, files, address === null),
    ...(passing ? [] : [commandLines(store, queue, evidence.dead)]),
  ];
  progress.print(sections.flatMap((section) => ['', ...section]).concat(''));
  return exitCodeOf(account);
}

interface Place {
  readonly store: DemoStore;
  readonly queue: string;
}

async function inFolder({ folder }: DemoFiles): Promise<Place> {
  const store = storeAt({ url: `sqlite:${join(folder, 'jobs.db')}`, namespace: null });
  await makeSchema(store);
  return { store, queue: QUEUE };
}

/** In a store of somebody else nothing is touched but a queue that nobody has had before. */
function elsewhere(address: StoreAddress, passing: boolean): Place {
  return { store: storeAt(address), queue: passing ? QUEUE : `${QUEUE}-${randomBytes(3).toString('hex')}` };
}

/** The workers' processes would only say it in their logs. */
async function refuseMissingSchema(store: DemoStore): Promise<Capabilities> {
  const backend = await connect(store);
  await backend.open({ timeoutMs: 10_000, notify: () => undefined });
  await backend.close({ graceMs: 2000 });
  if (backend.capabilities.sessions !== 'one-process') return backend.capabilities;
  throw new SuretyError('CAPABILITY_MISSING', 'The jobs of this store live inside one process.', {
    remedy: 'Choose another: the demo kills processes.',
  });
}

interface Surroundings extends Place {
  readonly files: DemoFiles;
  readonly effects: Effects;
  readonly enqueued: EnqueueReport;
  readonly progress: Progress;
}

async function work(around: Surroundings): Promise<readonly string[]> {
  const { store, queue } = around;
  await using dependency = await startFlakyDependency();
  await using observer = await openObserver(store, queue);
  const task = { store, queue, dependencyUrl: dependency.url, effectsFile: around.files.effects };
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
