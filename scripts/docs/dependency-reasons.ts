/**
 * Why a published package depends on what it depends on, by folder under `packages/`. A dependency without a reason here fails
 * the check, and so does a reason without its dependency.
 */
export const DEPENDENCY_REASONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  core: {
    '@standard-schema/spec':
      'The types of Standard Schema, so that any validation library can check payloads. Types only, no code',
    pino: 'The structured log line of every attempt, through a buffered destination that costs less than the job',
    uuid: 'Ids of jobs (version 7, in order of time), made by the client so that an unknown enqueue can be repeated',
  },
  demo: {
    '@octokit/webhooks-examples': 'The real webhook payloads that the demonstration works through. Data only',
  },
  otel: {
    '@opentelemetry/api':
      "The instruments of the application's own OpenTelemetry; a peer, because there must be one copy of it in a process",
  },
  postgres: {
    '@types/pg':
      'The public types name `pg.Pool`; without it an application would have to install these types itself',
    pg: 'The PostgreSQL client: pooling, parameters, notifications, TLS',
  },
  rabbitmq: {
    amqplib: 'The AMQP 0-9-1 client: channels, confirms, consumers',
  },
  redis: {
    ioredis: 'The Redis client: pipelining, scripts by hash, reconnection, cluster slots',
  },
  sqs: {
    '@aws-sdk/client-cloudwatch':
      'The age of the oldest ready job, where an application asks for the metric of the service; an optional peer',
    '@aws-sdk/client-sqs':
      'The SQS client of AWS: signatures, the chain of credentials, endpoints, the protocol. Its own retries are off',
  },
};
