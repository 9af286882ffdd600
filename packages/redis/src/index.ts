import type { Backend } from '@surety/core/contract';
import { createBackend } from './backend.ts';
import type { RedisCapabilities } from './capabilities.ts';
import { type RedisOptions, resolveOptions } from './options.ts';

export type { RedisCapabilities } from './capabilities.ts';
export type { ConfirmOptions, RedisOptions } from './options.ts';

/**
 * A backend on Redis 7.0 or later, Valkey, or a cluster of either: one copy of a job, ever (`moves: 'atomic'`), leases by the
 * server's clock, and a fence that grows. How much it survives is what the server is configured for: `open` reads it, states it
 * as `durability`, and refuses a server that evicts keys. Throws OPTIONS_INVALID; connects with `open`.
 */
export function redis(options: RedisOptions): Backend<RedisCapabilities> {
  return createBackend(resolveOptions(options));
}
