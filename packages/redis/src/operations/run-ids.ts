import type { Connection } from '../connection.ts';
import type { Call } from '../deadline.ts';
import { allowed, parseInfo } from './read-server.ts';

/** Changes when one of the servers was started anew or another took its place. Empty where INFO is not allowed. */
export async function readRunIds(connection: Connection, call: Call): Promise<string> {
  const ids = await Promise.all(
    (await connection.primaries(call)).map(async (client) => {
      const text = await allowed(client.info(), call);
      return text === null ? '' : (parseInfo(text).get('run_id') ?? '');
    }),
  );
  return ids.sort().join();
}
