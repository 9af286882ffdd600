import type { SQSClient } from '@aws-sdk/client-sqs';
import { QUEUE_NAME } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import { ADAPTER } from './call.ts';

/** Keys that are given to the client as they are. Left out, the client looks for them where every AWS tool does. */
export interface SqsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Options of {@link sqs}. Durations in ms unless named otherwise. */
export interface SqsOptions {
  /** Like `eu-central-1`. */
  readonly region: string;
  /** In place of the region's own service: an emulator, a VPC endpoint. `http://` or `https://`. */
  readonly endpoint?: string;
  /** Keys, or a function that brings them. Default: the provider chain of the AWS SDK. */
  readonly credentials?: SqsCredentials | (() => Promise<SqsCredentials>);
  /** First word of the names of all queues: letters and digits, at most 30. Default `surety`. */
  readonly prefix?: string;
  /** Queues that are made at `open`; others are made when they are first used. */
  readonly queues?: readonly string[];
  /** Make queues that are missing. `false`: only check that they were made. Default `true`. */
  readonly create?: boolean;
  /** The largest message in bytes: 1,048,576 (default), or 262,144 where the service or an older queue allows no more. */
  readonly maxMessageBytes?: 262_144 | 1_048_576;
  /**
   * Seconds that an idle worker waits in one request, 1 to 20. Longer is cheaper, and a worker takes as long to stop: a request
   * is never abandoned, since the service may hand out a job to it that then is nobody's until its lease has ended. Default 5.
   */
  readonly pollSeconds?: number;
  /** For how long a look at the pause of a queue is believed; each look is a request. 500 to 60,000; default 8,000. */
  readonly pauseCheckMs?: number;
  /** Rest between two looks at the long delayed jobs of a queue when none was found. 0 to 300,000; default 45,000. */
  readonly delayCheckMs?: number;
  /**
   * Makes the clients of the AWS SDK in place of the adapter: for a proxy, for tracing, for FIPS endpoints. Called twice for each `open`: requests that wait
   * for jobs have connections of their own. Made with `maxAttempts: 1`, since a repeated send is a second job; closed with the backend. Stands in for
   * `endpoint` and `credentials`.
   */
  readonly client?: () => SQSClient;
  /**
   * Who sends the four requests that jobs are made of. `sdk`: the AWS SDK, with all that was added to its client. `lean`: the same requests, signed with the
   * keys of that client, at a quarter of the CPU time; what was added to the client, its request handler too, does not see them. Default `lean`; with a
   * `client` of your own `sdk`.
   */
  readonly transport?: 'lean' | 'sdk';
  /**
   * Where the age of the oldest ready job comes from. `bound` (default): no more than an upper bound, free of charge, by which no age-alert is raised.
   * `cloudwatch`: the metric of the service, by the minute and some minutes late; needs the package `@aws-sdk/client-cloudwatch`, the right
   * `cloudwatch:GetMetricStatistics`, and at most one request a minute for each queue that is counted.
   */
  readonly oldestAge?: 'bound' | 'cloudwatch';
}

/** Options with every default filled in. */
export interface ResolvedOptions {
  readonly region: string;
  readonly endpoint: string | null;
  readonly credentials: SqsOptions['credentials'] | null;
  readonly prefix: string;
  readonly queues: readonly string[];
  readonly create: boolean;
  readonly maxMessageBytes: number;
  readonly pollSeconds: number;
  readonly pauseCheckMs: number;
  readonly delayCheckMs: number;
  readonly client: (() => SQSClient) | null;
  readonly transport: 'lean' | 'sdk';
  readonly oldestAge: 'bound' | 'cloudwatch';
}

const KNOWN: ReadonlySet<string> = new Set([
  'region',
  'endpoint',
  'credentials',
  'prefix',
  'queues',
  'create',
  'maxMessageBytes',
  'pollSeconds',
  'pauseCheckMs',
  'delayCheckMs',
  'client',
  'transport',
  'oldestAge',
] satisfies (keyof SqsOptions)[]);

/** Without a hyphen, so that no two prefixes share a name: what follows the first hyphen is the queue. */
const PREFIX = /^[A-Za-z0-9]{1,30}$/;
const REGION = /^[a-z]{2}(-[a-z]+)+-\d+$/;
const MESSAGE_BYTES: readonly number[] = [262_144, 1_048_576];

/** Checks the options and fills in defaults. Throws OPTIONS_INVALID, never with a key in the message. */
export function resolveOptions(options: SqsOptions): ResolvedOptions {
  for (const name of Object.keys(options)) {
    if (!KNOWN.has(name)) throw invalid(`The option "${name}" is not known.`);
  }
  const {
    region,
    endpoint = null,
    credentials = null,
    client = null,
    prefix = 'surety',
    queues = [],
    create = true,
  } = options;
  if (typeof region !== 'string' || !REGION.test(region)) {
    throw invalid('The option "region" is not the name of a region, like eu-central-1.');
  }
  if (endpoint !== null) checkEndpoint(endpoint);
  checkClient(client, endpoint ?? credentials);
  if (typeof prefix !== 'string' || !PREFIX.test(prefix)) {
    throw invalid('The option "prefix" is not a word of at most 30 letters and digits.');
  }
  for (const queue of queues) {
    if (queue.endsWith('.fifo')) throw invalid(fifo(queue));
    if (!QUEUE_NAME.test(queue)) throw invalid(`The name of the queue "${queue}" is not allowed.`);
  }
  if (typeof create !== 'boolean') throw invalid('The option "create" is neither true nor false.');
  const maxMessageBytes = options.maxMessageBytes ?? 1_048_576;
  if (!MESSAGE_BYTES.includes(maxMessageBytes)) {
    throw invalid('The option "maxMessageBytes" is neither 262144 nor 1048576.');
  }
  return Object.freeze({
    region,
    endpoint,
    credentials,
    prefix,
    queues: Object.freeze([...queues]),
    create,
    maxMessageBytes,
    pollSeconds: whole('pollSeconds', options.pollSeconds, 5, 1, 20),
    pauseCheckMs: whole('pauseCheckMs', options.pauseCheckMs, 8000, 500, 60_000),
    delayCheckMs: whole('delayCheckMs', options.delayCheckMs, 45_000, 0, 300_000),
    client,
    transport: oneOf('transport', options.transport, client === null ? ['lean', 'sdk'] : ['sdk', 'lean']),
    oldestAge: oneOf('oldestAge', options.oldestAge, ['bound', 'cloudwatch']),
  });
}

/** Why a FIFO queue cannot hold jobs. */
function fifo(queue: string): string {
  return `"${queue}" is a FIFO queue, which delays no single message and blocks a group behind a job that is retried: use a standard queue.`;
}

function checkClient(client: unknown, beside: unknown): void {
  if (client === null) return;
  if (typeof client !== 'function') throw invalid('The option "client" is no function that makes a client.');
  if (beside !== null) throw invalid('A client of your own has its endpoint and its credentials already.');
}

function checkEndpoint(endpoint: unknown): void {
  const url = typeof endpoint === 'string' && URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return;
  throw invalid('The option "endpoint" is not a URL that begins with http:// or https://.');
}

/** The first is the default. */
function oneOf<Word extends string>(
  name: string,
  value: Word | undefined,
  words: readonly [Word, ...Word[]],
): Word {
  if (value === undefined) return words[0];
  if (!words.includes(value)) throw invalid(`The option "${name}" is none of ${words.join(', ')}.`);
  return value;
}

function whole(name: string, value: unknown, fallback: number, min: number, max: number): number {
  if (value === undefined) return fallback;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw invalid(`The option "${name}" is not a whole number from ${min} to ${max}.`);
  }
  return value;
}

function invalid(what: string): SuretyError {
  return new SuretyError('OPTIONS_INVALID', what, { adapter: ADAPTER });
}
