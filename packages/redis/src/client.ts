import { type RedisOptions as ClientOptions, Cluster, type ClusterOptions, Command, Redis } from 'ioredis';
import type { ResolvedOptions } from './options.ts';

/** What is used of a client of ioredis, alone or of a cluster. Lists among the arguments are flattened by it. */
export interface Client {
  readonly status: string;
  connect(): Promise<unknown>;
  disconnect(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  evalsha(sha: string, keys: number, ...rest: readonly (readonly (string | number)[])[]): Promise<unknown>;
  eval(text: string, keys: number, ...rest: readonly (readonly (string | number)[])[]): Promise<unknown>;
  call(command: string, ...rest: readonly (string | number)[]): Promise<unknown>;
  info(): Promise<string>;
  sendCommand(command: Command): Promise<unknown>;
}

const CONNECTION_NAME = 'surety';

/**
 * Each client makes one connection and ends with it: a new one is made in its place. So nothing is sent twice behind our
 * back, and nothing waits in memory for a server that is away.
 */
function settings({ connectTimeoutMs }: ResolvedOptions) {
  return {
    lazyConnect: true,
    retryStrategy: () => null,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectTimeoutMs,
    connectionName: CONNECTION_NAME,
    disableClientInfo: true,
    enableAutoPipelining: false,
    reconnectOnError: null,
    // What a given client may have set otherwise: shapes of answers, and time limits below ours.
    replyMapping: 'legacy',
    stringNumbers: false,
    commandTimeout: undefined,
    socketTimeout: undefined,
    blockingTimeout: undefined,
    readOnly: false,
    monitor: false,
  } as const;
}

/** A server that loads its data says so itself; Sentinel needs the check to see that it was led to a primary. */
const UNCHECKED = { enableReadyCheck: false } as const;

/** Every command to the primary; no redirection after a lost connection, which would be a second sending. */
function clusterSettings(options: ResolvedOptions, given: NonNullable<ClusterOptions['redisOptions']>) {
  return {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: () => null,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    scaleReads: 'master',
    enableAutoPipelining: false,
    redisOptions: { ...given, ...settings(options) },
  } as const;
}

/** A call of a script as text, made beforehand: what has to go out the moment a waiting claim is woken. To be sent once. */
export type PreparedCall = Command;

/** Null where the client changes keys on their way. */
export function prepareCall(
  { client, connection }: ResolvedOptions,
  sha: string,
  keys: readonly string[],
  values: readonly (string | number)[],
): PreparedCall | null {
  const given = (client?.options ?? connection) as { readonly keyPrefix?: unknown } | null;
  // None is the empty one in the options of a client.
  if ((given?.keyPrefix ?? '') !== '') return null;
  const command = new Command('evalsha', [sha, keys.length, ...keys, ...values], { replyEncoding: 'utf8' });
  const text = command.toWritable({});
  command.toWritable = () => text;
  return command;
}

/** Makes a client, not connected. */
export function makeClient(options: ResolvedOptions): Client {
  const { client, connection } = options;
  const own = settings(options);
  if (client?.isCluster === true) {
    const cluster = client as Cluster;
    const given = cluster.options.redisOptions ?? {};
    return asClient(cluster.duplicate([], clusterSettings(options, given)));
  }
  if (client !== null) {
    const given = client as Redis;
    return asClient(given.duplicate({ ...own, ...(hasSentinels(given.options) ? {} : UNCHECKED) }));
  }
  if (typeof connection === 'string') return asClient(new Redis(connection, { ...own, ...UNCHECKED }));
  if (Array.isArray(connection)) return asClient(makeCluster(options, connection as readonly string[]));
  const given = connection as ClientOptions;
  return asClient(new Redis({ ...given, ...own, ...(hasSentinels(given) ? {} : UNCHECKED) }));
}

/** User, password and TLS of the first URL hold for the whole cluster, whose other nodes are found through it. */
function makeCluster(options: ResolvedOptions, urls: readonly string[]): Cluster {
  const nodes = urls.map((text) => {
    const url = new URL(text);
    return { host: url.hostname, port: Number(url.port || '6379') };
  });
  const first = new URL(urls[0] ?? '');
  const given = {
    ...(first.username === '' ? {} : { username: decodeURIComponent(first.username) }),
    ...(first.password === '' ? {} : { password: decodeURIComponent(first.password) }),
    ...(first.protocol === 'rediss:' ? { tls: {} } : {}),
  };
  return new Cluster(nodes, clusterSettings(options, given));
}

function hasSentinels(options: ClientOptions): boolean {
  return 'sentinels' in options && Array.isArray(options.sentinels) && options.sentinels.length > 0;
}

function asClient(client: Redis | Cluster): Client {
  return client as unknown as Client;
}

/** The servers behind a client: itself, or the primaries of the cluster. */
export function primariesOf(client: Client): readonly Client[] {
  return client instanceof Cluster ? client.nodes('master').map(asClient) : [client];
}

/** Ends a client at once. What was under way fails; a connection without a word from the other side is not waited for. */
export function cutOff(client: Client): void {
  const nodes: readonly unknown[] = client instanceof Cluster ? client.nodes('all') : [client];
  const streams = nodes.map((node) => (node as { readonly stream?: { destroy(): void } | null }).stream);
  client.disconnect();
  for (const stream of streams) stream?.destroy();
}
