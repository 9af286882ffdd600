import { relative } from 'node:path';
import type { StoreAddress, StoreOperator } from '@surety/core/operator';
import { sqlite } from '../index.ts';
import { ADAPTER } from '../native-errors.ts';
import { fileOf } from './address.ts';
import { diagnoseFile } from './diagnose.ts';
import { requireSchema, schemaOf } from './schema.ts';
import { openTrial } from './trial.ts';

/** For the command line and for tools like it; an application uses `sqlite()`. Addresses are `sqlite:FILE`. */
export const operator: StoreOperator = Object.freeze({
  adapter: ADAPTER,
  describe: (address: StoreAddress) => `sqlite:${shortest(fileOf(address))}`,
  backend: (address) => {
    const file = fileOf(address);
    const inner = sqlite(file);
    return Object.freeze({
      ...inner,
      open: async (options) => {
        requireSchema(file);
        await inner.open(options);
      },
    } satisfies typeof inner);
  },
  schema: async (address) => schemaOf(fileOf(address)),
  migrate: async (address, { timeoutMs }) => {
    const backend = sqlite(fileOf(address));
    await backend.open({ timeoutMs, notify: () => undefined });
    await backend.close({ graceMs: timeoutMs });
  },
  diagnose: async (address, options) => diagnoseFile(fileOf(address), options),
  trial: async (address) => openTrial(fileOf(address)),
} satisfies StoreOperator);

function shortest(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
}
