import type { StoreOperator } from '@surety/core/operator';

/** One kind of store, known by how its URLs begin. */
export interface Scheme {
  readonly prefixes: readonly string[];
  /** How a URL is written, and what there is to say about it, for the help. */
  readonly form: readonly [url: string, remark: string];
  /** The package that has its adapter. Loaded only when such a URL is used. */
  readonly package: string;
  readonly load: () => Promise<{ readonly operator: StoreOperator }>;
}

/**
 * Every kind of store. An adapter takes its seat here by a literal import of its entry point `./operator`, in package.json as an
 * optional peer, and in tsconfig.json as a reference.
 */
export const SCHEMES: readonly Scheme[] = [
  {
    prefixes: ['sqlite:'],
    form: ['sqlite:FILE', 'without any URL: sqlite:jobs.db of the working directory'],
    package: '@surety/sqlite',
    load: () => import('@surety/sqlite/operator'),
  },
  {
    prefixes: ['postgres://', 'postgresql://'],
    form: ['postgres://USER:PASSWORD@HOST:PORT/DATABASE', 'needs @surety/postgres'],
    package: '@surety/postgres',
    load: () => import('@surety/postgres/operator'),
  },
  {
    prefixes: ['redis://', 'rediss://'],
    form: ['redis://USER:PASSWORD@HOST:PORT/DB[?cluster]', 'needs @surety/redis'],
    package: '@surety/redis',
    load: () => import('@surety/redis/operator'),
  },
  {
    prefixes: ['amqp://', 'amqps://'],
    form: [
      'amqp://USER:PASSWORD@HOST:PORT/VHOST[?queues=NAME,NAME][&management=URL]',
      'needs @surety/rabbitmq',
    ],
    package: '@surety/rabbitmq',
    load: () => import('@surety/rabbitmq/operator'),
  },
  {
    prefixes: ['sqs:'],
    form: ['sqs:REGION[?queues=NAME,NAME][&endpoint=URL]', 'needs @surety/sqs'],
    package: '@surety/sqs',
    load: () => import('@surety/sqs/operator'),
  },
];
