import {
  type Backend,
  type Capabilities,
  CONTRACT_VERSION,
  type Notice,
  type OpenOptions,
} from '@surety/core/contract';
import { CAPABILITIES, capabilitiesWith, type RedisCapabilities } from './capabilities.ts';
import { makeClient } from './client.ts';
import { type Connection, createConnection } from './connection.ts';
import { type Context, failure, startCall } from './context.ts';
import { createDeadLetters } from './facets/dead-letters.ts';
import { createDedupe } from './facets/dedupe.ts';
import { createLookup } from './facets/lookup.ts';
import { createPacing } from './facets/pacing.ts';
import { createHealth } from './health.ts';
import { createListener, type Listener } from './listener.ts';
import { claim, settleAndClaim } from './operations/claim.ts';
import { enqueue } from './operations/enqueue.ts';
import { examineServers } from './operations/examine-server.ts';
import { counts, queues } from './operations/inspect.ts';
import { renew } from './operations/renew.ts';
import { readRunIds } from './operations/run-ids.ts';
import { settle } from './operations/settle.ts';
import type { ResolvedOptions } from './options.ts';
import { createQueueStates } from './queue-state.ts';

/** A hint is worth no more time than this. */
const GIVE_BACK_WITHIN_MS = 1000;
/** For a question that nobody waits for. */
const ASK_WITHIN_MS = 5000;

/** Puts the adapter together. Nothing is connected before `open`. */
export function createBackend(options: ResolvedOptions): Backend<RedisCapabilities> {
  let capabilities = capabilitiesWith(askedFor(options));
  let tell: (notice: Notice) => void = () => undefined;
  let opened = false;
  /** Of servers that keep nothing, as they were when they were opened. */
  let runIds = '';
  let closed: Promise<void> | null = null;
  let closing = new AbortController();
  const notify = (notice: Notice): void => tell(notice);
  const health = createHealth(notify);
  const { isCluster, connectTimeoutMs } = options;
  const make = (): ReturnType<typeof makeClient> => makeClient(options);
  const connect = (): Connection =>
    createConnection({
      make,
      isCluster,
      connectTimeoutMs,
      onAnswer: (unreachable) => health.heard(unreachable),
      onForgotten: () => forgotten(),
    });
  const hintOf = (queue: string): string => context.queues.of(queue).keys.hint;
  const listen = (): Listener => createListener({ make, connectTimeoutMs, hintOf, notify, giveBack });
  const context: Context = {
    options,
    connection: connect(),
    confirming: options.confirm === null ? null : connect(),
    listener: listen(),
    closing: closing.signal,
    queues: createQueueStates(options.prefix),
    lastClaimAt: null,
    lastRenewAt: null,
    notify,
  };

  /** The server may have been started anew. What it kept is there again; where it keeps nothing, that has to be told. */
  function forgotten(): void {
    context.queues.unlist();
    // When it cannot be asked now, the next script that it does not know asks again.
    if (capabilities.durability === 'memory') tellIfLost().catch(() => undefined);
  }

  async function tellIfLost(): Promise<void> {
    const found = await readRunIds(context.connection, startCall('open', { timeoutMs: ASK_WITHIN_MS }));
    if (found === runIds) return;
    runIds = found;
    notify({
      kind: 'warning',
      code: 'STORE_DATA_LOST',
      message: 'The server was started anew and keeps no log: jobs that were accepted before may be gone.',
    });
  }

  /** A hint that nobody here waits for any more. When it is lost, polling stands behind it. */
  function giveBack(queue: string): void {
    const call = startCall('claim', { timeoutMs: GIVE_BACK_WITHIN_MS });
    context.connection.command(call, 'LPUSH', hintOf(queue), '1').catch(() => undefined);
  }

  async function open({ notify: given, timeoutMs }: OpenOptions): Promise<void> {
    const call = startCall('open', { timeoutMs });
    if (closed !== null) await startAnew(closed);
    tell = given;
    capabilities = capabilitiesWith(await examineServers(context.connection, options, call, notify));
    if (capabilities.durability === 'memory') runIds = await readRunIds(context.connection, call);
    opened = true;
  }

  async function startAnew(ending: Promise<void>): Promise<void> {
    await ending;
    if (closed !== ending) return;
    closed = null;
    closing = new AbortController();
    context.closing = closing.signal;
    context.connection = connect();
    context.confirming = options.confirm === null ? null : connect();
    context.listener = listen();
  }

  async function end(graceMs: number): Promise<void> {
    closing.abort();
    opened = false;
    context.listener.stop();
    await Promise.all([context.connection.close(graceMs), context.confirming?.close(graceMs)]);
  }

  /** Every other call waits for nothing: a backend that is not open was never promised to work. */
  const ready = <A extends readonly unknown[], T>(operation: string, run: (...given: A) => Promise<T>) => {
    return async (...given: A): Promise<T> => {
      if (closing.signal.aborted) throw failure('BACKEND_CLOSED', 'The Redis backend was closed.', operation);
      return run(...given);
    };
  };

  return {
    name: 'redis',
    contractVersion: CONTRACT_VERSION,
    get capabilities() {
      return capabilities;
    },
    open,
    close: ({ graceMs }) => (closed ??= end(graceMs)),
    health: () => health.tell(opened, context.lastClaimAt, context.lastRenewAt),
    enqueue: ready('enqueue', (jobs, call) => enqueue(context, jobs, startCall('enqueue', call))),
    claim: ready('claim', (request) => claim(context, request)),
    renew: ready('renew', (leases, leaseMs, call) => renew(context, leases, leaseMs, call)),
    settle: ready('settle', (settlements, call) => settle(context, settlements, call)),
    settleAndClaim: ready('settleAndClaim', (settlements, request) =>
      settleAndClaim(context, settlements, request),
    ),
    counts: ready('counts', (queue, call) => counts(context, queue, call)),
    queues: ready('queues', (call) => queues(context, call)),
    deadLetters: createDeadLetters(context),
    pacing: createPacing(context),
    lookup: createLookup(context),
    dedupe: createDedupe(context),
  };
}

/** What the options ask for, before the server was seen. */
function askedFor({ confirm, durability }: ResolvedOptions): Capabilities['durability'] {
  if (confirm !== null) return confirm.replicas > 0 ? { replicated: confirm.replicas } : 'fsync';
  return durability ?? CAPABILITIES.durability;
}
