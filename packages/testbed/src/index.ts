export { type ChildMethod, serveChild } from './child/child-serve.ts';
export { type Child, type ChildExit, type ChildOptions, startChild } from './child/start-child.ts';
export { freePort } from './machine/free-port.ts';
export type { PostgresAccess, PostgresServer, ServerPowers } from './postgres/postgres-server.ts';
export { sharedPostgres } from './postgres/shared-postgres.ts';
export { type PgBouncer, type PgBouncerOptions, startPgBouncer } from './postgres/start-pgbouncer.ts';
export { type PostgresOptions, startPostgres } from './postgres/start-postgres.ts';
export { type ProxyTarget, startTcpProxy, type TcpProxy } from './proxy/tcp-proxy.ts';
