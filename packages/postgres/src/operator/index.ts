import type { StoreOperator } from '@surety/core/operator';
import { postgres } from '../index.ts';
import { describe, optionsOf } from './address.ts';
import { diagnose } from './diagnose.ts';
import { visit } from './look.ts';
import { schemaOf } from './schema.ts';
import { openTrial } from './trial.ts';

/** For the command line and for tools like it; an application uses `postgres()`. The namespace of an address is the schema. */
export const operator: StoreOperator = Object.freeze({
  adapter: 'postgres',
  describe,
  backend: (address) => postgres({ ...optionsOf(address), migrate: false }),
  schema: (address, { timeoutMs }) =>
    visit(address, 'schema', timeoutMs, ({ connections, sql, schema, call }) =>
      schemaOf(connections, sql, schema, call),
    ),
  migrate: async (address, { timeoutMs }) => {
    const backend = postgres({ ...optionsOf(address), migrate: true });
    try {
      await backend.open({ timeoutMs, notify: () => undefined });
    } finally {
      await backend.close({ graceMs: timeoutMs });
    }
  },
  diagnose,
  trial: (address, { timeoutMs }) => openTrial(address, timeoutMs),
} satisfies StoreOperator);
