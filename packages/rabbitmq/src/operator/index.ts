import type { StoreOperator } from '@surety/core/operator';
import { ADAPTER } from '../call.ts';
import { describe } from './address.ts';
import { diagnose } from './diagnose.ts';
import { lookingBackend } from './looking-backend.ts';
import { migrate, schemaOf } from './schema.ts';
import { openTrial } from './trial.ts';

/**
 * For the command line and for tools like it; an application uses `rabbitmq()`. Addresses are `amqp://` and `amqps://`, with the parameters `queues` (what
 * `migrate` makes, and what a listing looks at) and `management` (the HTTP API of the broker); the namespace is the prefix. The script of a schema
 * is a file of definitions, as `rabbitmqctl import_definitions` takes it.
 */
export const operator: StoreOperator = Object.freeze({
  adapter: ADAPTER,
  describe,
  backend: lookingBackend,
  schema: schemaOf,
  migrate,
  diagnose,
  trial: (address, { timeoutMs }) => openTrial(address, timeoutMs),
} satisfies StoreOperator);
