import type { DatabaseSync } from 'node:sqlite';
import { defineJob, type Handler, handle, handleFenced, PermanentError } from '@surety/core';

export const saveProfile = defineJob<{ userId: string; email: string }>('profile.save');
export const chargeCard = defineJob<{ orderId: string; cents: number }>('card.charge', { timeout: '20s' });
export const shipOrder = defineJob<{ orderId: string; parcel: string }>('order.ship');
export const writeReport = defineJob<{ name: string }>('report.write', { timeout: '10m' });

export function profileHandler(db: DatabaseSync): Handler<false> {
  // region: upsert
  return handle(saveProfile, ({ userId, email }) => {
    // The user is the key: a second run writes the same row.
    db.prepare(
      'insert into profile (user_id, email) values (?, ?) on conflict (user_id) do update set email = excluded.email',
    ).run(userId, email);
  });
  // endregion
}

export function chargeHandler(db: DatabaseSync, provider: string): Handler<false> {
  // region: external
  return handle(chargeCard, async ({ orderId, cents }, ctx) => {
    const response = await fetch(`${provider}/charges`, {
      method: 'POST',
      headers: { 'idempotency-key': ctx.idempotencyKey }, // the same on every attempt: the provider charges once
      body: JSON.stringify({ orderId, cents }),
      signal: ctx.signal, // a timeout, a stop and a lost lease end the call
    });
    if (response.status === 402) return ctx.cancel('the card was declined'); // an answer, not a failure
    if (response.status === 429) return ctx.snooze('30s'); // later, and no attempt is spent
    if (response.status === 400) throw new PermanentError(`refused: ${await response.text()}`); // no retry can help
    if (!response.ok) throw new Error(`the provider answered ${response.status}`); // tried again
    const { reference } = (await response.json()) as { reference: string };
    db.prepare('insert into charge (order_id, reference) values (?, ?) on conflict do nothing').run(
      orderId,
      reference,
    );
    return undefined;
  });
  // endregion
}

export function shipHandler(db: DatabaseSync): Handler<false> {
  // region: forward
  return handle(shipOrder, ({ orderId, parcel }, ctx) => {
    // Only from paid to shipped, never back: whoever comes late or twice changes nothing.
    const { changes } = db
      .prepare(`update orders set state = 'shipped', parcel = ? where id = ? and state = 'paid'`)
      .run(parcel, orderId);
    if (changes === 1) return undefined;
    const order = db.prepare('select state from orders where id = ?').get(orderId);
    if (order?.['state'] === 'shipped') return undefined; // an earlier run did it
    if (order?.['state'] === 'open') return ctx.snooze('1m'); // not paid yet
    return ctx.bury(`order ${orderId} is ${String(order?.['state'] ?? 'not there')}`); // somebody has to look
  });
  // endregion
}

export function reportHandler(db: DatabaseSync, build: (name: string) => Promise<string>): Handler<true> {
  // region: fence
  return handleFenced(writeReport, async ({ name }, { fence }) => {
    const body = await build(name); // slow: meanwhile the lease may end, and another worker may do it all
    // Whoever holds a newer claim has a larger fence. An older one finds no row to change.
    db.prepare(
      `insert into report (name, fence, body) values (?, ?, ?)
       on conflict (name) do update set fence = excluded.fence, body = excluded.body
       where excluded.fence > report.fence`,
    ).run(name, fence, body);
  });
  // endregion
}
