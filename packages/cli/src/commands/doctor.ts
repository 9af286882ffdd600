import type { Finding } from '@surety/core/operator';
import { JSON_OPTION, STORE_OPTIONS } from '../arguments/store-options.ts';
import { duration, flag } from '../arguments/values.ts';
import type { Command, Invocation } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type NamedStore, withNamedStore } from '../stores/open-store.ts';
import type { Output, Tone } from '../terminal/output.ts';
import { printable } from '../terminal/printable.ts';
import { checkQueues } from './check-queues.ts';

const LONG_TRANSACTION_MS = 60_000;
const MAX_AGE_MS = 15 * 60_000;

/** `surety doctor`. */
export const doctor: Command = {
  name: 'doctor',
  summary: 'Looks for what weakens a promise or slows the store down, and says what to do',
  takes: '',
  words: { min: 0, max: 0 },
  options: {
    'long-transaction': {
      type: 'string',
      value: 'TIME',
      help: 'a transaction open for longer is a problem; 1m',
    },
    'max-age': { type: 'string', value: 'TIME', help: 'a ready job that waits longer is a problem; 15m' },
    ...JSON_OPTION,
    ...STORE_OPTIONS,
  },
  details: [
    'Versions, settings, schema, rights, sizes, bloat, the oldest open transaction, clocks, poolers, and each queue. It',
    'changes nothing. Exit code 1: there is a problem; notes are no problem.',
  ],
  examples: [
    ['surety doctor', 'everything, with what to do'],
    ['surety doctor --long-transaction 10s --max-age 5m', 'stricter'],
    ['surety doctor --json', 'for a monitor'],
  ],
  run: (invocation) => {
    const longTransactionMs = duration(invocation.values, 'long-transaction', LONG_TRANSACTION_MS);
    const maxAgeMs = duration(invocation.values, 'max-age', MAX_AGE_MS);
    return withNamedStore(invocation, async (store) => {
      const { operator, address, call } = store;
      const ofStore = await operator.diagnose(address, { ...call, longTransactionMs });
      // Without the tables there is no queue to look into.
      const usable = !ofStore.some(({ check, level }) => check === 'schema' && level === 'problem');
      const findings = usable ? [...ofStore, ...(await checkQueues(store, maxAgeMs))] : ofStore;
      return tell(findings, store, invocation);
    });
  },
};

function tell(findings: readonly Finding[], { shown }: NamedStore, { values, output }: Invocation): number {
  const of = (level: Finding['level']): number => findings.filter((each) => each.level === level).length;
  const problems = of('problem');
  const safe = findings.map((finding) => ({
    ...finding,
    what: output.hide(finding.what),
    remedy: finding.remedy === null ? null : output.hide(finding.remedy),
  }));
  if (flag(values, 'json')) output.json({ store: shown, problems, notes: of('note'), findings: safe });
  else {
    const sum = `${counted(problems, 'problem')}, ${counted(of('note'), 'note')}`;
    const verdict = output.tone(problems === 0 ? 'good' : 'bad', sum);
    output.print(shown, '', ...safe.flatMap((finding) => lines(finding, output)), '', verdict);
  }
  return problems === 0 ? EXIT.ok : EXIT.no;
}

const TONES: Readonly<Record<Finding['level'], Tone>> = { ok: 'good', note: 'warn', problem: 'bad' };
const LEVEL_WIDTH = 'problem'.length;
const CHECK_WIDTH = 'open-transactions'.length;

function lines({ level, check, what, remedy }: Finding, output: Output): readonly string[] {
  const indent = ' '.repeat(LEVEL_WIDTH + 2 + CHECK_WIDTH + 2);
  const first = `${output.tone(TONES[level], level.padEnd(LEVEL_WIDTH))}  ${check.padEnd(CHECK_WIDTH)}  ${printable(what)}`;
  return remedy === null ? [first] : [first, `${indent}-> ${printable(remedy)}`];
}

function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
