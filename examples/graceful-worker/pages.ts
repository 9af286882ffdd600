import { DatabaseSync } from 'node:sqlite';

/** Where the effect goes: one row per page of a report, with how often it was printed. */
export interface Pages {
  /** How far the report is. */
  count(report: string): number;
  print(report: string, page: number): void;
  all(): { readonly report: string; readonly page: number }[];
  close(): void;
}

export function openPages(file: string): Pages {
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec('pragma journal_mode = wal');
  db.exec('create table if not exists page (report text, page integer, primary key (report, page)) strict');
  const count = db.prepare('select count(*) as n from page where report = ?');
  const print = db.prepare('insert into page (report, page) values (?, ?)');
  const all = db.prepare('select report, page from page order by report, page');
  return {
    count: (report) => Number(count.get(report)?.['n']),
    print: (report, page) => void print.run(report, page),
    all: () => all.all().map((row) => ({ report: String(row['report']), page: Number(row['page']) })),
    close: () => db.close(),
  };
}
