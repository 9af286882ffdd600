import type { Finding } from '@surety/core/operator';
import { note, ok, orFine, problem, spell } from './findings.ts';
import type { Look } from './look.ts';

interface HolderRow {
  readonly kind: 'session' | 'prepared' | 'slot';
  readonly age_ms: number | null;
  readonly who: string;
}

const REMEDIES: Readonly<Record<HolderRow['kind'], string>> = {
  session:
    'Let it commit or end it (pg_terminate_backend); set idle_in_transaction_session_timeout for its role.',
  prepared: 'Commit or roll it back: `rollback prepared` with its name.',
  slot: 'Start its reader, or drop it: pg_drop_replication_slot.',
};

/** The oldest open transaction: while it is open, vacuum removes no row that died since it began. */
export async function checkHolders({ ask, longTransactionMs }: Look): Promise<readonly Finding[]> {
  const holders = (await ask('diagnoseHolders', [])) as unknown as readonly HolderRow[];
  const [hidden] = await ask('diagnoseHidden', []);
  const old = holders.filter(({ age_ms }) => age_ms === null || age_ms > longTransactionMs);
  const [oldest] = holders;
  const count = Number(hidden?.['hidden']);
  return [
    ...orFine(
      old.map(({ kind, age_ms, who }) =>
        problem(
          'open-transactions',
          age_ms === null
            ? `${who} holds vacuum back and has no reader`
            : `open for ${spell(age_ms)}: ${who}`,
          REMEDIES[kind],
        ),
      ),
      ok(
        'open-transactions',
        oldest === undefined ? 'none' : `the oldest is ${spell(oldest.age_ms ?? 0)} old`,
      ),
    ),
    ...(count === 0
      ? []
      : [
          note(
            'open-transactions',
            `${count} sessions belong to other roles and cannot be looked into`,
            'For a full view: grant pg_read_all_stats to the role that runs the diagnosis.',
          ),
        ]),
  ];
}
