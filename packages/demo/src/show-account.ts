import type { Account, DeadJob, Evidence } from './account.ts';

/** The account as a newcomer reads it: a figure a line, and beside it why it matters. */
export function accountLines(account: Account, { enqueued, interrupted }: Evidence): readonly string[] {
  const { sent, duplicates } = enqueued.repeats;
  const repeats = sent === 0 ? '' : `; ${sent} sent twice: duplicates ${duplicates}`;
  return [
    'Account, read from the store and from the table of effects, not from what the workers said',
    row('accepted', account.accepted, `stored before the producer got its answer${repeats}`),
    row('completed', account.completed, 'accepted, and gone from the store'),
    row('dead', account.dead, 'failed for good, kept with error and history'),
    row('lost', account.lost, 'accepted, but neither in the store nor among the effects'),
    row('effects', account.effects, `rows by idempotency key; completed ${account.completed}`),
    row(
      'ran twice',
      account.ranAgain,
      'the worker died after the effect and before the end of the job; the key made it one effect',
    ),
    row(
      'recovered',
      account.takenOver,
      `of the ${interrupted.length} jobs that the killed worker was running`,
    ),
    ...(account.extraCopies === 0
      ? []
      : [
          row(
            'extra copies',
            account.extraCopies,
            'dead letters that are there twice: this store moves by copy, and a worker was killed',
          ),
        ]),
  ];
}

/** The dead letters by reason, then by error. */
export function deadLetterLines(dead: readonly DeadJob[]): readonly string[] {
  if (dead.length === 0) return ['Dead letters: none'];
  const byReason = Map.groupBy(dead, ({ reason }) => reason);
  const groups = [...byReason].sort(([a], [b]) => a.localeCompare(b));
  return [
    `Dead letters (${dead.length})`,
    ...groups.flatMap(([reason, jobs]) => [row(reason, jobs.length, ''), ...errorLines(jobs)]),
  ];
}

/** The last words: that it adds up, or what does not. */
export function verdictLines({
  accepted,
  completed,
  dead,
  lost,
  effects,
  faults,
}: Account): readonly string[] {
  if (faults.length > 0) return ['THE ACCOUNT DOES NOT ADD UP', ...faults.map((fault) => `  ${fault}`)];
  const sum = `accepted ${accepted} = completed ${completed} + dead ${dead}, lost ${lost}, effects ${effects} = completed`;
  return [`The account adds up: ${sum}.`];
}

function errorLines(jobs: readonly DeadJob[]): readonly string[] {
  const byError = Map.groupBy(jobs, ({ type, error, attempts }) => `${type}, attempt ${attempts}: ${error}`);
  const lines = [...byError].map(
    ([text, same]) => `      ${same.length > 1 ? `${same.length} x ` : ''}${text}`,
  );
  return lines.sort((a, b) => a.localeCompare(b));
}

function row(name: string, figure: number, remark: string): string {
  return `  ${name.padEnd(18)}${String(figure).padStart(4)}   ${remark}`.trimEnd();
}
