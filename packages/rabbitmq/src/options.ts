import { QUEUE_NAME } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import { ADAPTER } from './call.ts';

/** Options of {@link rabbitmq}. Durations in ms. */
export interface RabbitmqOptions {
  /** Where the broker is, `amqp://user:password@host:port/vhost`, or `amqps://`. Several for the nodes of a cluster: the next is tried when one is away. */
  readonly url: string | readonly string[];
  /** First word of the names of all queues and exchanges: letters, digits, `_` and `-`, at most 40. Default `surety`. */
  readonly prefix?: string;
  /**
   * Queues whose topology is made at `open`, delays up to an hour included; others are made when they are first used. A queue of
   * RabbitMQ that is younger than two seconds does not survive a `kill -9` of the broker, so name yours.
   */
  readonly queues?: readonly string[];
  /** Make what is missing. `false`: only check that it was made. Default `true`. */
  readonly declare?: boolean;
  /**
   * The broker's `consumer_timeout`: longer it lets nobody hold a job. Versions before 4.0 do not tell it; the default, 1,800,000, is
   * theirs. From 4.0 on Surety's queues set their own of 24.8 days, and up to that may stand here. At least 240,000.
   */
  readonly consumerTimeoutMs?: number;
  /** Seconds between heartbeats, 1 to 60; default 5. A process that is frozen or blocked for three of them loses its jobs. */
  readonly heartbeatSeconds?: number;
  /** How long one connection may take to be made. 100 to 60,000; default 5,000. */
  readonly connectTimeoutMs?: number;
}

/** Options with every default filled in. */
export interface ResolvedOptions {
  readonly urls: readonly string[];
  readonly prefix: string;
  readonly queues: readonly string[];
  readonly declare: boolean;
  readonly consumerTimeoutMs: number;
  readonly heartbeatSeconds: number;
  readonly connectTimeoutMs: number;
}

const KNOWN: ReadonlySet<string> = new Set([
  'url',
  'prefix',
  'queues',
  'declare',
  'consumerTimeoutMs',
  'heartbeatSeconds',
  'connectTimeoutMs',
] satisfies (keyof RabbitmqOptions)[]);

const PREFIX = /^[A-Za-z0-9_-]{1,40}$/;
/** The largest that `x-consumer-timeout` takes. */
export const MAX_CONSUMER_TIMEOUT_MS: number = 2 ** 31 - 1;
const DEFAULT_CONSUMER_TIMEOUT_MS = 30 * 60 * 1000;

/** Checks the options and fills in defaults. Throws OPTIONS_INVALID, never with a password in the message. */
export function resolveOptions(options: RabbitmqOptions): ResolvedOptions {
  for (const name of Object.keys(options)) {
    if (!KNOWN.has(name)) throw invalid(`The option "${name}" is not known.`);
  }
  const given: unknown = options.url;
  const urls = (Array.isArray(given) ? given : [given]) as readonly string[];
  if (urls.length === 0) throw invalid('The option "url" names no broker.');
  for (const url of urls) checkUrl(url);
  const prefix = options.prefix ?? 'surety';
  if (typeof prefix !== 'string' || !PREFIX.test(prefix)) {
    throw invalid('The option "prefix" is not a word of at most 40 letters, digits, "_" and "-".');
  }
  const queues = options.queues ?? [];
  for (const queue of queues) {
    if (!QUEUE_NAME.test(queue)) throw invalid(`The name of the queue "${queue}" is not allowed.`);
  }
  const declare = options.declare ?? true;
  if (typeof declare !== 'boolean') throw invalid('The option "declare" is neither true nor false.');
  return Object.freeze({
    urls: Object.freeze([...urls]),
    prefix,
    queues: Object.freeze([...queues]),
    declare,
    consumerTimeoutMs: whole(
      'consumerTimeoutMs',
      options.consumerTimeoutMs,
      DEFAULT_CONSUMER_TIMEOUT_MS,
      240_000,
      MAX_CONSUMER_TIMEOUT_MS,
    ),
    heartbeatSeconds: whole('heartbeatSeconds', options.heartbeatSeconds, 5, 1, 60),
    connectTimeoutMs: whole('connectTimeoutMs', options.connectTimeoutMs, 5000, 100, 60_000),
  });
}

function checkUrl(url: unknown): void {
  const protocol = typeof url === 'string' && URL.canParse(url) ? new URL(url).protocol : null;
  if (protocol !== 'amqp:' && protocol !== 'amqps:') {
    throw invalid('The option "url" is not a URL that begins with amqp:// or amqps://.');
  }
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
