import type { Finding } from '@surety/core/operator';
import { registryKey } from '../keys.ts';
import { note, ok } from './findings.ts';
import { trialsKey } from './trial.ts';
import type { Visit } from './visit.ts';

/** At about half a KiB each: some hundred MiB that nobody works off. */
const DEAD_NOTE = 200_000;

/** What is under the prefix. */
export async function checkKeys(visit: Visit): Promise<readonly Finding[]> {
  const { connection, prefix, call } = visit;
  const queues = ((await connection.command(call, 'SMEMBERS', registryKey(prefix))) as string[]).toSorted();
  const large: Finding[] = [];
  for (const queue of queues) {
    const dead = Number(await connection.command(call, 'ZCARD', `${prefix}:{${queue}}:dead`));
    if (dead > DEAD_NOTE) {
      large.push(
        note(
          'dead-letters',
          `${dead} of ${queue} keep their memory until somebody decides`,
          `See: surety dead list --queue ${queue}`,
        ),
      );
    }
  }
  return [
    ok('schema', `prefix ${prefix}, ${queues.length} queues; none is needed, so it is up to date`),
    ...(large.length === 0 ? [ok('dead-letters', `no queue holds more than ${DEAD_NOTE}`)] : large),
  ];
}

/** What verifications have left. */
export async function checkTrials({ connection, prefix, call }: Visit): Promise<readonly Finding[]> {
  const left = (await connection.command(call, 'SMEMBERS', trialsKey(prefix))) as readonly string[];
  if (left.length === 0) return [ok('trials', 'nothing is left of `surety verify`')];
  const what = `left by a \`surety verify\` that is running or was killed: ${left.map((each) => `${each}:*`).join(', ')}`;
  const remedy = `When none is running: delete these keys (SCAN, UNLINK) and ${trialsKey(prefix)}.`;
  return [note('trials', what, remedy)];
}
