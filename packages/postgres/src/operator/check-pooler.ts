import type { Finding } from '@surety/core/operator';
import type pg from 'pg';
import type { Connections } from '../connection.ts';
import type { Call } from '../deadline.ts';
import { note, ok } from './findings.ts';

/** What stands between this machine and the server, as far as two connections can tell. */
export type Pooler = 'none' | 'transaction' | 'session-or-unknown';

/**
 * A pooler tells a process number of its own. When two connections of ours are served by one session of the server, it pools by
 * transaction. The other way round proves nothing: it may have had a session to spare.
 */
export async function findPooler(connections: Connections, call: Call): Promise<Pooler> {
  return connections.session(call, async (first) => {
    const served = await sessionOf(first);
    const told = (first as unknown as { readonly processID?: number | null }).processID;
    if (told === served) return 'none';
    const other = await connections.session(call, sessionOf);
    return other === served ? 'transaction' : 'session-or-unknown';
  });
}

/** See {@link findPooler}. */
export async function checkPooler(connections: Connections, call: Call): Promise<readonly Finding[]> {
  const pooler = await findPooler(connections, call);
  if (pooler === 'none') return [ok('pooler', 'none: connections lead to the server itself')];
  const how = pooler === 'transaction' ? 'one that pools by transaction' : 'there is one';
  return [
    note(
      'pooler',
      `${how}: notifications do not come through a pooler in transaction mode`,
      'Give workers `listen: false` (they poll every pollMs), or a URL that leads to the server itself.',
    ),
  ];
}

async function sessionOf(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? -1;
}
