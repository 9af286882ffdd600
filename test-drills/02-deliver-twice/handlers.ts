import type { DatabaseSync } from 'node:sqlite';
import { type Handler, handle, type JobContext } from '@surety/core';
import type { WorkerTools } from '../stage/worker-messages.ts';
import { type DeliverTwiceArgs, jobOf } from './jobs.ts';
import { openShop, PATTERNS, type Pattern } from './shop.ts';

type Effect = (db: DatabaseSync, subject: string, context: JobContext) => void;

const EFFECTS: Readonly<Record<Pattern, Effect>> = {
  // The user is the key: a second run writes the same row.
  upsert: (db, subject) =>
    void db
      .prepare(
        'insert into profile (user_id, email) values (?, ?) on conflict (user_id) do update set email = excluded.email',
      )
      .run(subject, `${subject}@example.org`),
  // The other side knows the reference already, and charges once.
  reference: (db, subject, { idempotencyKey }) =>
    void db
      .prepare(
        'insert into charge (reference, order_id, cents) values (?, ?, 4200) on conflict (reference) do nothing',
      )
      .run(idempotencyKey, subject),
  // Only from paid to shipped, never back: whoever comes late or twice changes nothing.
  forward: (db, subject) =>
    void db
      .prepare(`update orders set state = 'shipped', parcel = ? where id = ? and state = 'paid'`)
      .run(`parcel of ${subject}`, subject),
};

/** One handler per pattern, each with a point before its effect. */
export function handlers(tools: WorkerTools, { queue, shop: file }: DeliverTwiceArgs): readonly Handler[] {
  const shop = openShop(file);
  return PATTERNS.map((pattern) =>
    handle(jobOf(pattern, queue), async ({ subject }, context) => {
      shop.noteRun(subject, tools.worker, context.idempotencyKey);
      await tools.point('before-effect', subject);
      EFFECTS[pattern](shop.db, subject, context);
    }),
  );
}
