import type { CallOptions } from '@surety/core/contract';
import type { Connection } from '../connection.ts';

/** Names of the queues that hold a job in any state or are paused, sorted (G5.3). */
export function queues(connection: Connection, { timeoutMs }: CallOptions): Promise<readonly string[]> {
  return connection.read('queues', timeoutMs, ({ st }) =>
    st.listQueues.all().map((row) => String(row['name'])),
  );
}
