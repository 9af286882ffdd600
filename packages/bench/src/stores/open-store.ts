import type { BackendName } from '../contestants/registry.ts';
import { openPostgresStore } from './postgres-store.ts';
import { openRabbitmqStore } from './rabbitmq-store.ts';
import { openRedisStore } from './redis-store.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { openSqsStore } from './sqs-store.ts';
import type { Store } from './store.ts';

const OPEN: Readonly<Record<BackendName, () => Promise<Store>>> = {
  postgres: openPostgresStore,
  redis: openRedisStore,
  rabbitmq: openRabbitmqStore,
  sqlite: openSqliteStore,
  sqs: openSqsStore,
};

export function openStore(backend: BackendName): Promise<Store> {
  return OPEN[backend]();
}
