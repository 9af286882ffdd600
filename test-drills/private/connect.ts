import type { Backend } from '@surety/core/contract';
import type { PostgresOptions } from '@surety/postgres';
import type { RabbitmqOptions } from '@surety/rabbitmq';
import type { RedisOptions } from '@surety/redis';
import type { SqsOptions } from '@surety/sqs';
import type { Connect } from '../stage/place.ts';

/** Which adapter, with which options. */
export type AdapterOptions =
  | { readonly adapter: 'sqlite'; readonly file: string }
  | { readonly adapter: 'postgres'; readonly options: PostgresOptions }
  | { readonly adapter: 'redis'; readonly options: RedisOptions }
  | { readonly adapter: 'rabbitmq'; readonly options: RabbitmqOptions }
  | { readonly adapter: 'sqs'; readonly options: SqsOptions };

/** For `connect` below, in any process. */
export function connectOf(args: AdapterOptions): Connect {
  return { module: import.meta.url, args };
}

/** A backend, not opened. Loads no more than its adapter. */
export async function connect(args: unknown): Promise<Backend> {
  const given = args as AdapterOptions;
  if (given.adapter === 'sqlite') return (await import('@surety/sqlite')).sqlite(given.file);
  if (given.adapter === 'postgres') return (await import('@surety/postgres')).postgres(given.options);
  if (given.adapter === 'redis') return (await import('@surety/redis')).redis(given.options);
  if (given.adapter === 'rabbitmq') return (await import('@surety/rabbitmq')).rabbitmq(given.options);
  return (await import('@surety/sqs')).sqs(given.options);
}
