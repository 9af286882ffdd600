import type { Contestant } from './contestant.ts';
import { OURS, OURS_LOGGED } from './names.ts';

export type BackendName = 'postgres' | 'redis' | 'rabbitmq' | 'sqlite' | 'sqs';

export const BACKENDS: readonly BackendName[] = ['postgres', 'redis', 'rabbitmq', 'sqlite', 'sqs'];

export const SUITE_NAMES = [
  'drain',
  'twoProcesses',
  'endToEnd',
  'enqueue',
  'pickUp',
  'dueTime',
  'backlog',
  'openTransaction',
] as const;

export type SuiteName = (typeof SUITE_NAMES)[number];

interface Entry {
  /** Suites that it takes part in. Left out of one: its sibling is the same there, or the better of the two by far. */
  readonly suites: readonly SuiteName[];
  /** On demand, so that a process that measures one contestant carries no code of another. */
  readonly load: () => Promise<Contestant>;
}

const ALL = SUITE_NAMES;
/** An emulator's own time grows with its backlog, which a service's does not, and it knows no transactions. */
const SQS = [
  'drain',
  'twoProcesses',
  'endToEnd',
  'enqueue',
  'pickUp',
] as const satisfies readonly SuiteName[];

/** How the broker takes a large backlog is the same for all of them, and there are no transactions. */
const RABBITMQ = SQS;

/** By backend, ours first. Each name is explained in the file of its contestant. */
const CONTESTANTS: Readonly<Record<BackendName, Readonly<Record<string, Entry>>>> = {
  postgres: {
    [OURS]: { suites: ALL, load: async () => (await import('./surety-postgres.ts')).suretyOnPostgres },
    [OURS_LOGGED]: {
      suites: ['drain'],
      load: async () => (await import('./surety-postgres.ts')).suretyOnPostgresLogged,
    },
    'graphile-worker-batch': {
      suites: ALL,
      load: async () => (await import('./graphile-worker.ts')).graphileWorkerBatch,
    },
    'graphile-worker': {
      suites: ['drain', 'twoProcesses', 'endToEnd', 'pickUp'],
      load: async () => (await import('./graphile-worker.ts')).graphileWorker,
    },
    'pg-boss-batch': {
      // Without a notification it picks a job up when it polls, each half second.
      suites: ALL.filter((name) => name !== 'pickUp' && name !== 'dueTime'),
      load: async () => (await import('./pg-boss.ts')).pgBossBatch,
    },
    'pg-boss': {
      suites: ['drain', 'twoProcesses', 'endToEnd', 'pickUp'],
      load: async () => (await import('./pg-boss.ts')).pgBoss,
    },
  },
  redis: {
    [OURS]: { suites: ALL, load: async () => (await import('./surety-redis.ts')).suretyOnRedis },
    [OURS_LOGGED]: {
      suites: ['drain'],
      load: async () => (await import('./surety-redis.ts')).suretyOnRedisLogged,
    },
    bullmq: { suites: ALL, load: async () => (await import('./bullmq.ts')).bullmq },
    'bee-queue': {
      // It looks after delayed jobs only when told so, which would be another setting than in its other runs.
      suites: ALL.filter((name) => name !== 'dueTime'),
      load: async () => (await import('./bee-queue.ts')).beeQueue,
    },
  },
  rabbitmq: {
    [OURS]: {
      // The client alone has no delays.
      suites: [...RABBITMQ, 'dueTime'],
      load: async () => (await import('./surety-rabbitmq.ts')).suretyOnRabbitmq,
    },
    [OURS_LOGGED]: {
      suites: ['drain'],
      load: async () => (await import('./surety-rabbitmq.ts')).suretyOnRabbitmqLogged,
    },
    amqplib: { suites: RABBITMQ, load: async () => (await import('./amqplib.ts')).amqplib },
    'amqplib-fitted': { suites: ['drain'], load: async () => (await import('./amqplib.ts')).amqplibFitted },
  },
  sqlite: {
    [OURS]: { suites: ALL, load: async () => (await import('./surety-sqlite.ts')).suretyOnSqlite },
    [OURS_LOGGED]: {
      suites: ['drain'],
      load: async () => (await import('./surety-sqlite.ts')).suretyOnSqliteLogged,
    },
  },
  sqs: {
    [OURS]: { suites: SQS, load: async () => (await import('./surety-sqs.ts')).suretyOnSqs },
    [OURS_LOGGED]: {
      suites: ['drain'],
      load: async () => (await import('./surety-sqs.ts')).suretyOnSqsLogged,
    },
    'sqs-consumer': { suites: SQS, load: async () => (await import('./sqs-consumer.ts')).sqsConsumer },
  },
};

/** Of one suite, or of any when left out. */
export function contestantNames(backend: BackendName, suite?: SuiteName): readonly string[] {
  return Object.entries(CONTESTANTS[backend])
    .filter(([, { suites }]) => suite === undefined || suites.includes(suite))
    .map(([name]) => name);
}

export async function loadContestant(backend: BackendName, name: string): Promise<Contestant> {
  const entry = CONTESTANTS[backend][name];
  if (entry === undefined) throw new Error(`there is no contestant ${name} on ${backend}`);
  return entry.load();
}
