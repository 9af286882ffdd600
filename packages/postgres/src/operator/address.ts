import type { StoreAddress } from '@surety/core/operator';
import { type PostgresOptions, type ResolvedOptions, resolveOptions } from '../options.ts';

/** Options of the adapter for an address. Throws OPTIONS_INVALID, never with a password. */
export function optionsOf({ url, namespace }: StoreAddress): PostgresOptions {
  const options = { url, ...(namespace === null ? {} : { schema: namespace }) };
  resolveOptions(options);
  return options;
}

/** For a look: two connections, no listening, nothing made. */
export function lookingOptions(address: StoreAddress): ResolvedOptions {
  return resolveOptions({ ...optionsOf(address), listen: false, migrate: false, poolSize: 2 });
}

/** Where it is, without user's password and without parameters, among which there may be one more. */
export function describe(address: StoreAddress): string {
  const { schema } = lookingOptions(address);
  const { protocol, username, host, pathname } = new URL(address.url);
  const user = username === '' ? '' : `${username}@`;
  return `${protocol}//${user}${host}${pathname} (schema ${schema})`;
}
