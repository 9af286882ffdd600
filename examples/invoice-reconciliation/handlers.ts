import { type Handler, handle } from '@surety/core';
import type { Books } from './books.ts';
import { cents, readCsv } from './csv.ts';
import { reconcileDay, reconcileInvoice } from './jobs.ts';

/** Lines enqueued at once; they travel to the store together. */
const AT_ONCE = 500;

export function handlers(books: Books): Handler<false>[] {
  return [
    // region: day
    handle(reconcileDay, async ({ day }, ctx) => {
      const invoices = readCsv(`invoices-${day}.csv`); // not there yet: throws, and is tried again
      paymentsOf(day); // a payment that cannot be read may be anybody's: nothing of that day is to be trusted
      for (let at = 0; at < invoices.length; at += AT_ONCE) {
        const some = invoices.slice(at, at + AT_ONCE);
        await Promise.all(
          some.map(({ number: line }) =>
            // With a key of its own: a day that is tried again enqueues only what it had not.
            ctx.enqueue(
              reconcileInvoice,
              { day, line },
              { dedupeKey: `${day} ${line}`, dedupeWindow: '30d' },
            ),
          ),
        );
      }
      books.dayRead(day, invoices.length);
    }),
    // endregion
    // region: invoice
    handle(reconcileInvoice, ({ day, line }, ctx) => {
      // Read here and not in the job of the day: correct the file, redrive the dead letter, and it is done.
      const file = `invoices-${day}.csv`;
      const invoice = readCsv(file).find(({ number }) => number === line);
      if (invoice === undefined) return ctx.bury(`${file} has no line ${line}`);
      const [name = ''] = invoice.cells;
      const paid = paymentsOf(day).get(name) ?? 0;
      books.reconcile({ day, invoice: name, openCents: cents(file, invoice, 2) - paid });
      return undefined;
    }),
    // endregion
  ];
}

/** Cents paid by invoice. */
function paymentsOf(day: string): ReadonlyMap<string, number> {
  const file = `payments-${day}.csv`;
  const paid = new Map<string, number>();
  for (const line of readCsv(file)) {
    const invoice = line.cells[1] ?? '';
    paid.set(invoice, (paid.get(invoice) ?? 0) + cents(file, line, 2));
  }
  return paid;
}
