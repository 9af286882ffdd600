import type * as conformance from '@surety/conformance';
import type { Trial } from '@surety/core/operator';
import { JSON_OPTION, STORE_OPTIONS } from '../arguments/store-options.ts';
import { flag, text, whole } from '../arguments/values.ts';
import type { Command, Invocation } from '../command.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { type NamedStore, withNamedStore } from '../stores/open-store.ts';
import { printable } from '../terminal/printable.ts';

type Suite = typeof conformance;
type Report = conformance.Report;

/** `surety verify`. */
export const verify: Command = {
  name: 'verify',
  summary: 'Proves the promises on this very store: runs the conformance suite in a place of its own',
  takes: '',
  words: { min: 0, max: 0 },
  options: {
    quick: { type: 'boolean', help: 'leave out the cases that take long' },
    only: {
      type: 'string',
      value: 'PREFIX',
      help: 'only cases whose id begins so: G2, G2.1, G6.4/two-operators',
    },
    seed: { type: 'string', value: 'N', help: 'the seed of a failure, to see it again' },
    ...JSON_OPTION,
    ...STORE_OPTIONS,
  },
  details: [
    'The place is a new schema (PostgreSQL), a prefix of its own (Redis, RabbitMQ, SQS) or a new folder beside the file',
    '(SQLite), removed at the end; queues of others are not touched. It loads the store for some minutes. What a URL does not',
    'give (to kill the server, to cut the network) is counted as not exercised. Exit code 1: a case failed.',
  ],
  examples: [
    ['surety verify --quick', 'the greater part, in about a minute'],
    ['surety verify --only G2', 'leases and fencing alone'],
    ['surety verify --json > report.json', 'everything, as a report'],
  ],
  run: (invocation) => {
    const { values } = invocation;
    if (text(values, 'only') === '') throw new UsageError('--only is empty.');
    const seed = text(values, 'seed') === null ? null : whole(values, 'seed', 1, 1, 2 ** 31 - 1);
    return withNamedStore(invocation, async (store) => {
      const suite = await import('@surety/conformance');
      if (suite.selectCases('all', text(values, 'only') ?? '').length === 0)
        throw new UsageError('No case begins so.');
      const trial = await store.operator.trial(store.address, store.call);
      const release = removeOnSignal(trial, invocation);
      let report: Report;
      try {
        report = await ask(suite, store, trial, seed, invocation);
      } finally {
        release();
        await trial[Symbol.asyncDispose]();
      }
      tell(suite, report, store, trial, invocation);
      return report.totals.failed === 0 ? EXIT.ok : EXIT.no;
    });
  },
};

async function ask(
  { runSuite }: Suite,
  { operator }: NamedStore,
  trial: Trial,
  seed: number | null,
  { values, output }: Invocation,
): Promise<Report> {
  const harness: conformance.Harness = {
    name: operator.adapter,
    variant: null,
    versions: async () => trial.versions,
    prepare: async () => undefined,
    destroy: async () => undefined,
    backend: ({ unreachable = false } = {}) => (unreachable ? trial.unreachable() : trial.backend()),
    child: { module: trial.connect.module, args: () => trial.connect.args },
    serverless: trial.serverless,
    ...(trial.transaction === undefined ? {} : { transaction: trial.transaction }),
  };
  if (!flag(values, 'json')) output.aside(`In ${trial.where}, which is removed at the end.`);
  const only = text(values, 'only');
  return runSuite({
    harness,
    cost: flag(values, 'quick') ? 'quick' : 'all',
    ...(only === null ? {} : { only }),
    ...(seed === null ? {} : { seed }),
    onResult: ({ id, status, reason }) => {
      if (status === 'failed') output.aside(`failed ${id}: ${printable(reason ?? '')}`);
    },
  });
}

/** Whoever interrupts it wants it gone, its data too. Answers with what calls that off. */
function removeOnSignal(trial: Trial, { output }: Invocation): () => void {
  const leave = (signal: NodeJS.Signals): void => {
    output.aside(`${signal}: removing ${trial.where}.`);
    const code = signal === 'SIGINT' ? 130 : 143;
    trial[Symbol.asyncDispose]().then(
      () => process.exit(code),
      (error: unknown) => {
        output.error(`${trial.where} could not be removed: ${String(error)}`);
        process.exit(code);
      },
    );
  };
  process.once('SIGINT', leave).once('SIGTERM', leave);
  return () => void process.off('SIGINT', leave).off('SIGTERM', leave);
}

function tell(
  { tableOf }: Suite,
  report: Report,
  { shown }: NamedStore,
  { where }: Trial,
  { values, output }: Invocation,
): void {
  if (flag(values, 'json')) return output.json({ store: shown, ...report });
  const versions = Object.entries(report.versions).map(([name, version]) => `${name} ${version}`);
  const idle = report.cases.filter(({ status }) => status === 'not-exercised');
  const reasons = Map.groupBy(idle, ({ reason }) => reason ?? 'no reason was given');
  output.print(
    `${shown}: ${versions.join(', ')}`,
    '',
    output.hide(tableOf(report, ['failed', 'waived'])),
    ...(idle.length === 0 ? [] : ['not exercised, since a URL does not give what they need:']),
    ...[...reasons].map(([reason, cases]) => `  ${String(cases.length).padStart(3)}  ${reason}`),
    '',
    `${where} is removed.`,
  );
}
