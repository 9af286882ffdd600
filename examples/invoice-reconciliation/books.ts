import { DatabaseSync } from 'node:sqlite';

export interface Reconciled {
  readonly day: string;
  readonly invoice: string;
  readonly openCents: number;
}

/** Where the effects go. Every write has a natural key, so that doing it again changes nothing. */
export interface Books {
  reconcile(entry: Reconciled): void;
  dayRead(day: string, lines: number): void;
  hasRead(day: string): boolean;
  days(): { readonly day: string; readonly lines: number; readonly reconciled: number }[];
  entries(day: string): Reconciled[];
  close(): void;
}

export function openBooks(file: string): Books {
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec(`
    pragma journal_mode = wal;
    create table if not exists day (day text primary key, lines integer not null) strict;
    create table if not exists reconciled (
      day text not null, invoice text not null, open_cents integer not null, primary key (day, invoice)
    ) strict`);
  // region: upsert
  const reconcile = db.prepare(`
    insert into reconciled (day, invoice, open_cents) values (?, ?, ?)
    on conflict (day, invoice) do update set open_cents = excluded.open_cents`);
  // endregion
  const dayRead = db.prepare(
    'insert into day (day, lines) values (?, ?) on conflict (day) do update set lines = excluded.lines',
  );
  const hasRead = db.prepare('select 1 from day where day = ?');
  const days = db.prepare(
    'select day, lines, (select count(*) from reconciled r where r.day = d.day) as reconciled from day d order by day',
  );
  const entries = db.prepare(
    'select day, invoice, open_cents from reconciled where day = ? order by invoice',
  );
  return {
    reconcile: ({ day, invoice, openCents }) => void reconcile.run(day, invoice, openCents),
    dayRead: (day, lines) => void dayRead.run(day, lines),
    hasRead: (day) => hasRead.get(day) !== undefined,
    days: () =>
      days.all().map((row) => ({
        day: String(row['day']),
        lines: Number(row['lines']),
        reconciled: Number(row['reconciled']),
      })),
    entries: (day) =>
      entries.all(day).map((row) => ({
        day,
        invoice: String(row['invoice']),
        openCents: Number(row['open_cents']),
      })),
    close: () => db.close(),
  };
}
