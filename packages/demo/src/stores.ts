import { type Backend, SuretyError } from '@surety/core';
import type { StoreAddress, StoreOperator } from '@surety/core/operator';

/** Names of the adapters that the demo runs on. */
export type StoreName = 'sqlite' | 'postgres' | 'redis' | 'rabbitmq' | 'sqs';

interface StoreKind {
  /** How its URLs begin. */
  readonly schemes: readonly string[];
  /** Imported when it is asked for: nobody needs a client library of a broker that is not used. */
  readonly operator: () => Promise<StoreOperator>;
  /** The URL that names a queue too, where a store makes only those that are named, and lists none. */
  readonly naming?: (url: string, queue: string) => string;
}

const STORES: Readonly<Record<StoreName, StoreKind>> = {
  sqlite: {
    schemes: ['sqlite:'],
    operator: async () => (await import('@surety/sqlite/operator')).operator,
  },
  postgres: {
    schemes: ['postgres:', 'postgresql:'],
    operator: async () => (await import('@surety/postgres/operator')).operator,
  },
  redis: {
    schemes: ['redis:', 'rediss:'],
    operator: async () => (await import('@surety/redis/operator')).operator,
  },
  rabbitmq: {
    schemes: ['amqp:', 'amqps:'],
    operator: async () => (await import('@surety/rabbitmq/operator')).operator,
    naming: (url, queue) => {
      const parsed = new URL(url);
      parsed.searchParams.set('queues', queue);
      return parsed.href;
    },
  },
  sqs: {
    schemes: ['sqs:'],
    operator: async () => (await import('@surety/sqs/operator')).operator,
  },
};

/** A place for jobs, with its schema, as every process of the demo can open it. Crosses to the workers. */
export interface DemoStore {
  readonly name: StoreName;
  readonly address: StoreAddress;
}

/** The store of a URL. Throws OPTIONS_INVALID for one that the demo does not know. */
export function storeAt(address: StoreAddress): DemoStore {
  const names = Object.keys(STORES) as StoreName[];
  const name = names.find((each) => STORES[each].schemes.some((scheme) => address.url.startsWith(scheme)));
  if (name !== undefined) return { name, address };
  throw new SuretyError('OPTIONS_INVALID', `The demo runs on ${names.join(', ')}; the URL leads elsewhere.`, {
    remedy: 'Give the URL of such a store.',
  });
}

/** A backend object of its own, not yet opened. Its `open` makes no schema. */
export async function connect({ name, address }: DemoStore): Promise<Backend> {
  return (await STORES[name].operator()).backend(address);
}

/** The store with the demo's queue made in it, where that is a thing of its own. */
export async function withQueue(store: DemoStore, queue: string): Promise<DemoStore> {
  const { naming, operator } = STORES[store.name];
  if (naming === undefined) return store;
  const address = { ...store.address, url: naming(store.address.url, queue) };
  await (await operator()).migrate(address, { timeoutMs: 30_000 });
  return { ...store, address };
}

/** Makes the schema of a place that belongs to the demo alone. */
export async function makeSchema({ name, address }: DemoStore): Promise<void> {
  await (await STORES[name].operator()).migrate(address, { timeoutMs: 30_000 });
}
