export { type ChildMethod, serveChild } from './child/child-serve.ts';
export { type Program, type ProgramOptions, runProgram } from './child/run-program.ts';
export { type Child, type ChildExit, type ChildOptions, startChild } from './child/start-child.ts';
export { freePort } from './machine/free-port.ts';
export type { PostgresAccess, PostgresServer, ServerPowers } from './postgres/postgres-server.ts';
export { runPsql } from './postgres/run-psql.ts';
export { sharedPostgres } from './postgres/shared-postgres.ts';
export { type PgBouncer, type PgBouncerOptions, startPgBouncer } from './postgres/start-pgbouncer.ts';
export { type PostgresOptions, startPostgres } from './postgres/start-postgres.ts';
export { type PostgresStandby, startStandby } from './postgres/start-standby.ts';
export { promtool } from './prometheus/promtool.ts';
export {
  type Prometheus,
  type PrometheusOptions,
  type PrometheusSample,
  startPrometheus,
} from './prometheus/start-prometheus.ts';
export { type ProxyTarget, startTcpProxy, type TcpProxy } from './proxy/tcp-proxy.ts';
export type { RabbitmqAccess, RabbitmqServer, RabbitmqVersion } from './rabbitmq/rabbitmq-server.ts';
export { sharedRabbitmq } from './rabbitmq/shared-rabbitmq.ts';
export { type RabbitmqOptions, startRabbitmq } from './rabbitmq/start-rabbitmq.ts';
export { type RabbitmqCluster, startRabbitmqCluster } from './rabbitmq/start-rabbitmq-cluster.ts';
export type { RedisAccess, RedisServer } from './redis/redis-server.ts';
export { sharedRedis } from './redis/shared-redis.ts';
export { type RedisServerOptions, startRedis } from './redis/start-redis.ts';
export { type RedisCluster, startRedisCluster } from './redis/start-redis-cluster.ts';
export { type RedisPair, startRedisPair } from './redis/start-redis-pair.ts';
export { type RedisSentinel, startRedisSentinel } from './redis/start-redis-sentinel.ts';
export { sharedSqs } from './sqs/shared-sqs.ts';
export type { SqsAccess, SqsAction, SqsFault, SqsFaults, SqsServer } from './sqs/sqs-server.ts';
export { type SqsOptions, startSqs } from './sqs/start-sqs.ts';
