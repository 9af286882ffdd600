import type { SchemaState, StoreOperator } from '@surety/core/operator';
import { redis } from '../index.ts';
import { describe, optionsOf } from './address.ts';
import { diagnose } from './diagnose.ts';
import { openTrial } from './trial.ts';
import { visit } from './visit.ts';

/** Keys appear with the jobs in them. */
const NONE: SchemaState = Object.freeze({ version: 0, newest: 0, script: '' });

/**
 * For the command line and for tools like it; an application uses `redis()`. Addresses are `redis://` and `rediss://`, with `?cluster`
 * where the server is one of a cluster; the namespace is the prefix.
 */
export const operator: StoreOperator = Object.freeze({
  adapter: 'redis',
  describe,
  backend: (address) => redis(optionsOf(address)),
  schema: (address, { timeoutMs }) => visit(address, 'schema', timeoutMs, async () => NONE),
  migrate: (address, { timeoutMs }) => visit(address, 'migrate', timeoutMs, async () => undefined),
  diagnose,
  trial: (address, { timeoutMs }) => openTrial(address, timeoutMs),
} satisfies StoreOperator);
