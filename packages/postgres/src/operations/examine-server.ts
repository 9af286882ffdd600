import type { Notice } from '@surety/core/contract';
import type { Connections } from '../connection.ts';
import { failure } from '../context.ts';
import type { Call } from '../deadline.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Sql } from '../sql.ts';

/** What `open` found out about the server. */
export interface Server {
  /** False: a power loss can take back what was answered. */
  readonly durable: boolean;
  readonly mayNotify: boolean;
  /** The table of migrations is there. */
  readonly migrated: boolean;
}

interface ServerRow {
  readonly version: number;
  readonly encoding: string;
  readonly fsync: string;
  readonly synchronous_commit: string;
  readonly in_recovery: boolean;
  readonly read_only: string;
  readonly may_notify: boolean;
  readonly migrated: boolean;
}

const OLDEST_MAJOR = 13;

/** Refuses a server on which the promises cannot be kept, and says what is weaker than promised (G10.1). */
export async function examineServer(
  connections: Connections,
  sql: Sql,
  options: ResolvedOptions,
  call: Call,
  notify: (notice: Notice) => void,
): Promise<Server> {
  const { rows } = await connections.ask(sql.examineServer, [options.schema], call);
  const server = rows[0] as unknown as ServerRow;
  const major = Math.floor(server.version / 10_000);
  if (major < OLDEST_MAJOR) {
    throw failure('STORE_UNSUITABLE', `PostgreSQL ${major} is older than ${OLDEST_MAJOR}.`, 'open');
  }
  if (server.encoding !== 'UTF8') {
    throw failure(
      'STORE_UNSUITABLE',
      `The database has the encoding ${server.encoding} in place of UTF8.`,
      'open',
    );
  }
  if (server.in_recovery || server.read_only === 'on') {
    connections.distrust();
    throw failure('STORE_READ_ONLY', 'The server is a replica or the database is read-only.', 'open');
  }
  const durable = server.fsync === 'on' && server.synchronous_commit !== 'off';
  if (!durable) {
    const message = `PostgreSQL runs with fsync ${server.fsync} and synchronous_commit ${server.synchronous_commit}: accepted jobs may not survive a crash of the machine.`;
    notify({ kind: 'warning', code: 'DURABILITY_REDUCED', message });
  }
  if (!server.may_notify) {
    const message = 'The role may not call pg_notify: idle workers find new jobs by polling.';
    notify({ kind: 'warning', code: 'NOTIFY_DENIED', message });
  }
  return { durable, mayNotify: server.may_notify, migrated: server.migrated };
}
