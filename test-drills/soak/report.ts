import { cpus, totalmem } from 'node:os';
import type { Account, HistoryReport } from '@surety/history';
import type { Held } from './leftovers.ts';
import type { SoakOrder } from './soak.ts';
import type { Growth } from './watch.ts';

/** What a soak came to; the README shows the latest of each backend. */
export interface SoakReport {
  readonly backend: string;
  readonly where: string;
  readonly date: string;
  readonly seed: number;
  readonly minutes: number;
  readonly jobs: number;
  readonly versions: Readonly<Record<string, string>>;
  readonly machine: { readonly cores: number; readonly memory: number };
  readonly account: Account;
  /** Settlements that were confirmed to who no longer held the job: at most none. */
  readonly unfenced: number;
  readonly faults: number;
  readonly growth: Growth;
  /** What the server held at the end. */
  readonly held: Held | null;
  /** Starts of processes that failed while the store was away. */
  readonly failedStarts: number;
  readonly secondsInAll: number;
  /** Number of the checker's findings by kind. */
  readonly findingKinds: Readonly<Record<string, number>>;
  /** Each with its proof, the first of them; empty: it held. */
  readonly findings: readonly string[];
}

interface ReportFacts {
  readonly order: SoakOrder;
  readonly startedAt: Date;
  readonly history: HistoryReport;
  readonly growth: Growth;
  readonly held: Held | null;
  readonly complaints: readonly string[];
  readonly failedStarts: number;
}

const SHOWN_FINDINGS = 20;
const SHOWN_LINES = 12;
const UNFENCED: readonly string[] = ['fenced-settled', 'two-holders', 'settled-twice', 'fence-repeated'];

export function makeReport(facts: ReportFacts): SoakReport {
  const { order, startedAt, history, growth, held, complaints, failedStarts } = facts;
  const { findings, account, complete } = history;
  const kinds: Record<string, number> = {};
  for (const { kind } of findings) kinds[kind] = (kinds[kind] ?? 0) + 1;
  const told = findings.slice(0, SHOWN_FINDINGS).map(({ kind, jobId, what, lines }) => {
    const proof = lines.slice(0, SHOWN_LINES).map((line) => line.slice(line.lastIndexOf('/') + 1));
    return `${kind}: ${jobId ?? ''} ${what} (${proof.join(', ')})`;
  });
  const more = complete ? [] : ['the final state is missing from the history'];
  return {
    backend: order.place.backend,
    where: order.place.where,
    date: startedAt.toISOString(),
    seed: order.seed,
    minutes: Math.round(order.forMs / 600) / 100,
    jobs: order.jobs,
    versions: order.versions,
    machine: { cores: cpus().length, memory: totalmem() },
    account,
    unfenced: findings.filter(({ kind }) => UNFENCED.includes(kind)).length,
    faults: Object.values(account.faults).reduce((sum, count) => sum + count, 0),
    growth,
    held,
    failedStarts,
    secondsInAll: Math.round((Date.now() - startedAt.getTime()) / 1000),
    findingKinds: kinds,
    findings: [...told, ...complaints, ...more],
  };
}

/** The account as a table, then what was found. */
export function soakLines(report: SoakReport): readonly string[] {
  const { account, growth } = report;
  const faults = Object.entries(account.faults).map(([kind, count]) => `${kind} ${count}`);
  const rows: readonly (readonly [string, string])[] = [
    ['accepted', String(account.accepted)],
    ['completed', String(account.completed)],
    ['dead', String(account.dead)],
    ['discarded', String(account.discarded)],
    ['redriven', String(account.redriven)],
    ['effects', String(account.effects)],
    ['duplicates', String(account.duplicates)],
    ['lost', String(account.lost)],
    ['unfenced', String(report.unfenced)],
    ['unknown answers', String(account.unknownAnswers)],
    ['faults', `${report.faults}: ${faults.join(', ')}`],
    ['recovered', String(account.recovered)],
    [
      'worst recovery',
      account.worstRecoveryMs === null ? 'none was needed' : `${account.worstRecoveryMs} ms`,
    ],
    ['history', `${account.lines} lines of ${account.processes} processes, ${account.tornLines} torn`],
    [
      'heap',
      Object.entries(growth.heapMb)
        .map(([name, [from, to]]) => `${name} ${from} to ${to} MB`)
        .join(', '),
    ],
    [
      'connections',
      growth.connections === null ? 'not counted' : `${growth.connections.join(', ')} (early, most, late)`,
    ],
  ];
  const verdict = report.findings.length === 0 ? 'HELD' : 'BROKEN';
  return [
    `soak of ${report.where}: ${verdict} (seed ${report.seed}, ${report.minutes} minutes, ${report.secondsInAll} s in all)`,
    ...rows.map(([name, value]) => `  ${name.padEnd(16)} ${value}`),
    ...report.findings.map((finding) => `  FOUND: ${finding}`),
    ...(report.findings.length === 0
      ? []
      : [`  ${JSON.stringify(report.findingKinds)}`, `  again: ${againLine(report)}`]),
  ];
}

/** How the same load and the same plan of faults are run again. */
export function againLine({
  backend,
  jobs,
  minutes,
  seed,
}: Pick<SoakReport, 'backend' | 'jobs' | 'minutes' | 'seed'>): string {
  return `npm run soak -- --backend ${backend} --jobs ${jobs} --minutes ${minutes} --seed ${seed}`;
}
