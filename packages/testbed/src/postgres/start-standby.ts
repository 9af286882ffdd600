import { startBinaryStandby } from './binary-server.ts';
import { withAdmin } from './databases.ts';
import { findPostgresBinaries } from './find-binaries.ts';
import { operate } from './operate.ts';
import type { PostgresServer } from './postgres-server.ts';

/** A server that follows another and can take over from it. Read-only until then. */
export interface PostgresStandby extends PostgresServer {
  /** Ends following; resolves once it takes writes. */
  promote(): Promise<void>;
}

const PROMOTE_WITHIN_S = 60;

/**
 * Starts a streaming standby of a private server, with the same roles and passwords on a port of its own. A commit on the
 * primary is from then on answered only once the standby has it, so that a failover loses nothing that was answered.
 */
export async function startStandby(primary: PostgresServer): Promise<PostgresStandby> {
  const binaries = await findPostgresBinaries();
  if (primary.kind !== 'binary' || binaries === undefined) {
    throw new Error(
      `a standby needs a server that runs from binaries on this machine, not one of kind "${primary.kind}": install ` +
        'PostgreSQL here and unset SURETY_TEST_POSTGRES_URL',
    );
  }
  const standby = operate(await startBinaryStandby(binaries, primary));
  await withAdmin(primary.adminUrl, async (admin) => {
    await admin.query("alter system set synchronous_standby_names = '*'");
    await admin.query('select pg_reload_conf()');
  });
  return {
    ...standby,
    async promote() {
      await withAdmin(standby.adminUrl, (admin) =>
        admin.query(`select pg_promote(true, ${PROMOTE_WITHIN_S})`),
      );
    },
  };
}
