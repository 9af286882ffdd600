import { DatabaseSync } from 'node:sqlite';

/** What must hold of every file at every moment, as queries that must find nothing. */
const FAULTS: Readonly<Record<string, string>> = {
  'a job stands in no list, or in several': `
    select j.seq from surety_job j left join (
      select seq from surety_ticket union all select seq from surety_scheduled
      union all select seq from surety_held union all select seq from surety_dead) l on l.seq = j.seq
    group by j.seq having count(l.seq) <> 1`,
  'a list names a job that is not there': `
    select seq from (select seq from surety_ticket union all select seq from surety_scheduled
      union all select seq from surety_held union all select seq from surety_dead)
    where seq not in (select seq from surety_job)`,
  'a past without its job': 'select seq from surety_past where seq not in (select seq from surety_job)',
  'a counter of a queue is wrong': `
    select id from surety_queue q where ready <> (select count(*) from surety_ticket t where t.queue = q.id)
      or scheduled <> (select count(*) from surety_scheduled s where s.queue = q.id)
      or dead <> (select count(*) from surety_dead d where d.queue = q.id)`,
  'held of a claim is wrong, or 0': `
    select id from surety_claim c where held = 0
      or held <> (select count(*) from surety_held h where h.claim = c.id)`,
  'a held job without its claim':
    'select seq from surety_held where claim not in (select id from surety_claim)',
  'a ticket or a held job of another queue or priority than its job': `
    select t.seq from surety_ticket t join surety_job j using (seq)
    where t.queue <> j.queue or t.priority <> j.priority
    union all select h.seq from surety_held h join surety_job j using (seq) join surety_claim c on c.id = h.claim
    where c.queue <> j.queue`,
  'a fence that is not the number of the next delivery': `
    select l.seq from (select seq, fence from surety_ticket union all select seq, fence from surety_scheduled
      union all select seq, fence from surety_held) l left join surety_past p using (seq)
    where l.fence <> coalesce(p.deliveries, 0) + 1`,
  'a ticket that is due before its place': 'select seq from surety_ticket where due < place',
  'a number given out twice':
    'select max(seq) from surety_job having max(seq) >= (select next from surety_store)',
};

/** Checks a whole file, also while others write to it: one view of one moment. */
export function account(file: string): { readonly jobs: number; readonly faults: readonly string[] } {
  const db = new DatabaseSync(file, { timeout: 5000 });
  try {
    db.exec('begin');
    const integrity = db.prepare('pragma integrity_check').get()?.['integrity_check'];
    const faults = Object.entries(FAULTS)
      .filter(([, sql]) => db.prepare(sql).all().length > 0)
      .map(([name]) => name);
    if (integrity !== 'ok') faults.push(String(integrity));
    return { jobs: Number(db.prepare('select count(*) as n from surety_job').get()?.['n']), faults };
  } finally {
    db.close();
  }
}
