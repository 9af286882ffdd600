import type { PostgresServer } from './postgres/postgres-server.ts';
import type { SharedPostgres } from './postgres/shared-postgres.ts';
import { startPostgres } from './postgres/start-postgres.ts';
import type { RabbitmqAccess, RabbitmqServer } from './rabbitmq/rabbitmq-server.ts';
import { startRabbitmq } from './rabbitmq/start-rabbitmq.ts';
import type { RedisAccess, RedisServer } from './redis/redis-server.ts';
import { startRedis } from './redis/start-redis.ts';
import { type SharedBrokers, shareBrokers } from './sharing/share-brokers.ts';
import type { SqsAccess, SqsServer } from './sqs/sqs-server.ts';
import { startSqs } from './sqs/start-sqs.ts';

let brokers: SharedBrokers | undefined;
let postgres: Promise<PostgresServer> | undefined;
let rabbitmq: Promise<RabbitmqServer> | undefined;
let redis: Promise<RedisServer> | undefined;
let sqs: Promise<SqsServer> | undefined;

/**
 * For `globalSetup` in a vitest configuration. Starts nothing but an offer: the workers inherit its address in the
 * environment, and a broker starts when the first of them asks (`sharedPostgres`). Where the environment already has an
 * offer, of another project of the same run or of a script around it, that one is used.
 */
export async function setup(): Promise<void> {
  if (process.env['SURETY_TESTBED_SOCKET'] !== undefined) return;
  brokers = await shareBrokers({
    async postgres(): Promise<SharedPostgres> {
      postgres = startPostgres();
      const { url, adminUrl, version } = await postgres;
      return { url, adminUrl, version };
    },
    async rabbitmq(): Promise<RabbitmqAccess> {
      rabbitmq = startRabbitmq();
      const { url, version } = await rabbitmq;
      return { url, version };
    },
    async redis(): Promise<RedisAccess> {
      redis = startRedis();
      const { url, host, port, version, product } = await redis;
      return { url, host, port, version, product };
    },
    async sqs(): Promise<SqsAccess> {
      sqs = startSqs();
      const { endpoint, region, version } = await sqs;
      return { endpoint, region, version };
    },
  });
  process.env['SURETY_TESTBED_SOCKET'] = brokers.socketPath;
}

export async function teardown(): Promise<void> {
  if (brokers === undefined) return;
  delete process.env['SURETY_TESTBED_SOCKET'];
  await brokers.close();
  brokers = undefined;
  // A server that failed to start was reported to whoever asked for it.
  for (const starting of [postgres, rabbitmq, redis, sqs]) {
    const server = await starting?.catch(() => undefined);
    await server?.destroy();
  }
}
