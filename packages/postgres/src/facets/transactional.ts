import type { Transactional } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import type { Row } from '../connection.ts';
import { type Context, failure, startCall } from '../context.ts';
import { within } from '../deadline.ts';
import { fromNative } from '../native-errors.ts';
import { enqueue, type Send } from '../operations/enqueue.ts';

/** What a transaction must be able to do: a client of pg, or anything that passes a text and values on to one. */
export interface PostgresTransaction {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Enqueue in the caller's own transaction (G1.4). A failed statement has broken it: what broke it is thrown. */
export function createTransactional(context: Context): Transactional {
  return {
    async enqueue(tx, jobs, options) {
      if (!isTransaction(tx)) {
        throw failure('OPTIONS_INVALID', 'The transaction given has no method "query".', 'enqueue');
      }
      const send: Send = async (statement, values, call) => {
        const sentAt = performance.now();
        try {
          const answer = await within(tx.query(statement, [...values]), call.deadline);
          if (answer !== null) return { ok: true, rows: answer.rows as readonly Row[], sentAt };
        } catch (native) {
          throw native instanceof SuretyError ? native : fromNative(native, call.operation);
        }
        throw failure('BACKEND_TIMEOUT', 'The transaction did not answer in time.', call.operation);
      };
      return enqueue(context, jobs, startCall('enqueue', options), send, { mayFail: false });
    },
  };
}

function isTransaction(tx: unknown): tx is PostgresTransaction {
  return typeof tx === 'object' && tx !== null && typeof (tx as { query?: unknown }).query === 'function';
}
