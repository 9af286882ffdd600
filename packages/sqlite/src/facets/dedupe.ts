import type { Dedupe } from '@surety/core/contract';
import type { Connection } from '../connection.ts';
import { findQueue } from '../queue-row.ts';

/** Who holds a dedupe key (G3.3, G3.4). */
export function dedupe(connection: Connection): Dedupe {
  return {
    owner: (name, key, { timeoutMs }) =>
      connection.read('owner', timeoutMs, ({ st, now }) => {
        const queue = findQueue(st, name);
        const row = queue === null ? undefined : st.findKey.get(queue.id, key, now);
        return row === undefined ? null : String(row['id']);
      }),
    forget: (name, key, { timeoutMs }) =>
      connection.write('forget', timeoutMs, ({ st }) => {
        st.forgetKey.run(name, key);
      }),
  };
}
