import type { StoreOperator } from '@surety/core/operator';
import { ADAPTER, startCall } from '../call.ts';
import { sqs } from '../index.ts';
import { resolveOptions } from '../options.ts';
import { describe, lookingOptions, optionsOf } from './address.ts';
import { diagnose } from './diagnose.ts';
import { schemaOf } from './schema.ts';
import { openTrial } from './trial.ts';
import { visit } from './visit.ts';

/**
 * For the command line and for tools like it; an application uses `sqs()`. Addresses are `sqs:REGION`, with the parameters `queues` (what `migrate`
 * makes) and `endpoint` (another service than the region's own); the namespace is the prefix.
 */
export const operator: StoreOperator = Object.freeze({
  adapter: ADAPTER,
  describe,
  // Queues of SQS are made when they are first used; a listing or a count makes none.
  backend: (address) => sqs({ ...optionsOf(address), queues: [] }),
  schema: (address, options) => {
    const resolved = lookingOptions(address);
    return visit(resolved, 'schema', options, (session, call) => schemaOf(session, resolved, call));
  },
  migrate: async (address, options) => {
    const resolved = resolveOptions(optionsOf(address));
    await visit(resolved, 'migrate', options, async (session) => {
      const call = startCall('migrate', options);
      for (const queue of resolved.queues) await session.topology.of(queue, call);
    });
  },
  diagnose,
  trial: (address, { timeoutMs }) => openTrial(address, timeoutMs),
} satisfies StoreOperator);
