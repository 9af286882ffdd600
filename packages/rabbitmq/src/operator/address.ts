import { QUEUE_NAME } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import type { StoreAddress } from '@surety/core/operator';
import { ADAPTER } from '../call.ts';
import { type RabbitmqOptions, type ResolvedOptions, resolveOptions } from '../options.ts';

/** What an address says. */
export interface Place {
  readonly options: RabbitmqOptions;
  readonly resolved: ResolvedOptions;
  /** Queues that it names: a broker does not list its own to a client. */
  readonly queues: readonly string[];
  readonly vhost: string;
  /** Where the HTTP API of the broker is; null: it was not told. */
  readonly management: ManagementPlace | null;
}

export interface ManagementPlace {
  /** Without a slash at its end. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

const FORM = 'amqp://USER:PASSWORD@HOST:PORT/VHOST[?queues=NAME,NAME][&management=http://HOST:15672]';
const OURS: readonly string[] = ['queues', 'management'];
/** Those of the client library that concern the connection. */
const OF_CLIENT: readonly string[] = ['heartbeat', 'frameMax', 'channelMax'];
/** The account that a broker has when it is new; the client library takes it too where a URL names none. */
const GUEST = 'guest';

/** Reads an address. Throws OPTIONS_INVALID, never with a password. */
export function placeOf({ url, namespace }: StoreAddress): Place {
  if (!URL.canParse(url)) throw noAddress('This is not a URL that begins with amqp:// or amqps://.');
  const parsed = new URL(url);
  for (const name of parsed.searchParams.keys()) {
    if (![...OURS, ...OF_CLIENT].includes(name))
      throw noAddress(`The address of RabbitMQ has no parameter "${name}".`);
  }
  const queues = (parsed.searchParams.get('queues') ?? '').split(',').filter((name) => name !== '');
  for (const queue of queues) {
    if (!QUEUE_NAME.test(queue)) throw noAddress(`No queue can be named "${queue}".`);
  }
  const management = managementOf(parsed);
  for (const name of OURS) parsed.searchParams.delete(name);
  const options: RabbitmqOptions = {
    url: parsed.href,
    ...(namespace === null ? {} : { prefix: namespace }),
  };
  const resolved = resolveOptions(options);
  return { options, resolved, queues: [...new Set(queues)], vhost: vhostOf(parsed), management };
}

/** Where it is, without a password and without parameters. */
export function describe(address: StoreAddress): string {
  const { resolved } = placeOf(address);
  const { protocol, username, host, pathname } = new URL(address.url);
  const user = username === '' ? '' : `${username}@`;
  return `${protocol}//${user}${host}${pathname === '/' ? '' : pathname} (prefix ${resolved.prefix})`;
}

function managementOf(parsed: URL): ManagementPlace | null {
  const given = parsed.searchParams.get('management');
  if (given === null) return null;
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw noAddress('The parameter "management" is not a URL that begins with http:// or https://.');
  if (url.username !== '' || url.password !== '')
    throw noAddress('The parameter "management" names a user; the one of the address is taken.');
  const isNamed = parsed.username !== '' || parsed.password !== '';
  return {
    url: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    user: isNamed ? decoded(parsed.username) : GUEST,
    password: isNamed ? decoded(parsed.password) : GUEST,
  };
}

function vhostOf({ pathname }: URL): string {
  const path = decoded(pathname.replace(/^\//, ''));
  return path === '' ? '/' : path;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw noAddress('The address of RabbitMQ has a "%" that stands for nothing; write it as %25.');
  }
}

function noAddress(what: string): SuretyError {
  return new SuretyError('OPTIONS_INVALID', what, { adapter: ADAPTER, remedy: `Write it as ${FORM}.` });
}
