import { SuretyError } from '@surety/core/errors';
import type { StoreAddress } from '@surety/core/operator';
import { type RedisOptions, resolveOptions } from '../options.ts';

const CLUSTER = 'cluster';

/** Options of the adapter for an address. Throws OPTIONS_INVALID, never with a password. */
export function optionsOf({ url, namespace }: StoreAddress): RedisOptions {
  const { plain, isCluster } = read(url);
  const options = {
    connection: isCluster ? [plain] : plain,
    ...(namespace === null ? {} : { prefix: namespace }),
  };
  resolveOptions(options);
  return options;
}

/** Where it is, without the user's password and without parameters, among which there may be one more. */
export function describe(address: StoreAddress): string {
  const { prefix, isCluster } = resolveOptions(optionsOf(address));
  const { protocol, username, host, pathname } = new URL(address.url);
  const user = username === '' ? '' : `${username}@`;
  const place = `${protocol}//${user}${host}${isCluster ? '' : pathname}`;
  return `${isCluster ? 'the cluster at ' : ''}${place} (prefix ${prefix})`;
}

/** `?cluster` is ours: the client takes every other parameter for an option of its own. */
function read(url: string): { readonly plain: string; readonly isCluster: boolean } {
  if (!URL.canParse(url)) {
    throw new SuretyError('OPTIONS_INVALID', 'The address of Redis is not a URL.', {
      adapter: 'redis',
      remedy: 'Write it as redis://USER:PASSWORD@HOST:PORT/DB, a part of a cluster with ?cluster at its end.',
    });
  }
  const parsed = new URL(url);
  if (!parsed.searchParams.has(CLUSTER)) return { plain: url, isCluster: false };
  parsed.searchParams.delete(CLUSTER);
  return { plain: parsed.href, isCluster: true };
}
