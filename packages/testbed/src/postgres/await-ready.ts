import { setTimeout as sleep } from 'node:timers/promises';
import { withAdmin } from './databases.ts';

/**
 * Asks until the server answers a query. `ended` says why there is nothing more to wait for, if so. Crash recovery can
 * take long, hence the limit of a minute. A wrong password is asked again too: it comes from another server that has the
 * port, and the one that could not get it is about to say so in its log.
 */
export async function awaitReady(
  url: string,
  ended: () => string | undefined = () => undefined,
): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      await withAdmin(url, (client) => client.query('select 1'));
      return;
    } catch (error) {
      const reason = ended();
      if (reason !== undefined) throw new Error(reason, { cause: error });
      if (Date.now() > deadline) throw new Error('PostgreSQL did not answer within 60 s', { cause: error });
    }
    await sleep(20);
  }
}
