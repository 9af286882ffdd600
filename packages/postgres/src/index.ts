import type { Backend } from '@surety/core/contract';
import { createBackend } from './backend.ts';
import type { PostgresCapabilities } from './capabilities.ts';
import { type PostgresOptions, resolveOptions } from './options.ts';

export type { PostgresCapabilities } from './capabilities.ts';
export type { PostgresTransaction } from './facets/transactional.ts';
export type { PostgresOptions } from './options.ts';

/**
 * A backend on PostgreSQL 13 or later: one copy of a job, ever (`moves: 'atomic'`), leases by the server's clock, a fence
 * that grows, and `enqueue` inside the application's own transaction. Throws OPTIONS_INVALID; connects with `open`.
 */
export function postgres(options: PostgresOptions): Backend<PostgresCapabilities> {
  return createBackend(resolveOptions(options));
}
