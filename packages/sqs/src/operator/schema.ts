import { isSuretyError } from '@surety/core/errors';
import type { SchemaState } from '@surety/core/operator';
import type { Call } from '../call.ts';
import { namesOf } from '../names.ts';
import type { ResolvedOptions } from '../options.ts';
import { RETENTION_MS } from '../service-limits.ts';
import type { Session } from '../session.ts';

/** SQS has no schema but its queues, and only those can be asked for that the address names. */
const NEWEST = 1;
const NONE: SchemaState = Object.freeze({ version: 0, newest: 0, script: '' });

export async function schemaOf(session: Session, options: ResolvedOptions, call: Call): Promise<SchemaState> {
  if (options.queues.length === 0) return NONE;
  const missing: string[] = [];
  for (const queue of options.queues) {
    const isThere = await session.topology.of(queue, call).then(
      () => true,
      (error: unknown) => {
        if (isSuretyError(error) && error.code === 'SCHEMA_MISSING') return false;
        throw error;
      },
    );
    if (!isThere) missing.push(queue);
  }
  if (missing.length === 0) return { version: NEWEST, newest: NEWEST, script: '' };
  return { version: 0, newest: NEWEST, script: missing.map((queue) => scriptFor(queue, options)).join('') };
}

/** For the command line of AWS; what is there already is left as it is. */
function scriptFor(queue: string, { prefix, region, maxMessageBytes }: ResolvedOptions): string {
  const { ready, delay, dead } = namesOf(prefix, queue);
  const attributes = `MessageRetentionPeriod=${RETENTION_MS / 1000},MaximumMessageSize=${maxMessageBytes}`;
  return [dead, delay, ready]
    .map(
      (name) => `aws sqs create-queue --region ${region} --queue-name ${name} --attributes ${attributes}\n`,
    )
    .join('');
}
