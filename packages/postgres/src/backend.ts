import { type Backend, CONTRACT_VERSION, type Notice, type OpenOptions } from '@surety/core/contract';
import { CAPABILITIES, type PostgresCapabilities } from './capabilities.ts';
import { type Connections, createConnections } from './connection.ts';
import { type Context, failure, startCall } from './context.ts';
import { createDeadLetters } from './facets/dead-letters.ts';
import { createDedupe } from './facets/dedupe.ts';
import { createLookup } from './facets/lookup.ts';
import { createPacing } from './facets/pacing.ts';
import { createTransactional } from './facets/transactional.ts';
import { createHealth } from './health.ts';
import { createHeldClaims } from './held-claims.ts';
import { createListener, type Listener } from './listener.ts';
import { claim, settleAndClaim } from './operations/claim.ts';
import { enqueue } from './operations/enqueue.ts';
import { examineServer } from './operations/examine-server.ts';
import { counts, queues } from './operations/inspect.ts';
import { migrate } from './operations/migrate.ts';
import { renew } from './operations/renew.ts';
import { settle } from './operations/settle.ts';
import type { ResolvedOptions } from './options.ts';
import { createQueueStates } from './queue-state.ts';
import { bindStatements } from './sql.ts';

/** Puts the adapter together. Nothing is connected before `open`. */
export function createBackend(options: ResolvedOptions): Backend<PostgresCapabilities> {
  let capabilities: PostgresCapabilities = CAPABILITIES;
  let tell: (notice: Notice) => void = () => undefined;
  let opened = false;
  let closed: Promise<void> | null = null;
  let closing = new AbortController();
  const notify = (notice: Notice): void => tell(notice);
  const health = createHealth(notify);
  const sql = bindStatements(options.schema);
  const channel = `surety_${options.schema}`;
  const connect = (): Connections =>
    createConnections(
      options,
      (unreachable) => health.heard(unreachable),
      () => context.listener.renew(),
    );
  const listen = (): Listener =>
    createListener({
      enabled: options.listen,
      channel,
      takesWrites: sql.takesWrites,
      connect: () => context.connections.separate(),
      notify,
    });
  const context: Context = {
    options,
    sql,
    connections: connect(),
    listener: listen(),
    closing: closing.signal,
    queues: createQueueStates(),
    held: createHeldClaims(),
    channel,
    mayNotify: true,
    lastClaimAt: null,
    lastRenewAt: null,
    notify,
  };

  async function open({ notify: given, timeoutMs }: OpenOptions): Promise<void> {
    const call = startCall('open', { timeoutMs });
    if (closed !== null) await startAnew(closed);
    tell = given;
    const server = await examineServer(context.connections, context.sql, options, call, notify);
    await migrate(context.connections, context.sql, options, server.migrated, call);
    context.mayNotify = server.mayNotify;
    capabilities = server.durable
      ? CAPABILITIES
      : Object.freeze({ ...CAPABILITIES, durability: 'process-crash' });
    opened = true;
  }

  async function startAnew(ending: Promise<void>): Promise<void> {
    await ending;
    if (closed !== ending) return;
    closed = null;
    closing = new AbortController();
    context.closing = closing.signal;
    context.connections = connect();
    context.listener = listen();
  }

  async function end(graceMs: number): Promise<void> {
    closing.abort();
    opened = false;
    context.listener.stop();
    await context.connections.close(graceMs);
  }

  /** Every other call waits for nothing: a backend that is not open was never promised to work. */
  const ready = <A extends readonly unknown[], T>(operation: string, run: (...given: A) => Promise<T>) => {
    return async (...given: A): Promise<T> => {
      if (closing.signal.aborted)
        throw failure('BACKEND_CLOSED', 'The PostgreSQL backend was closed.', operation);
      return run(...given);
    };
  };

  return {
    name: 'postgres',
    contractVersion: CONTRACT_VERSION,
    get capabilities() {
      return capabilities;
    },
    open,
    close: ({ graceMs }) => (closed ??= end(graceMs)),
    health: () => health.tell(opened, context.lastClaimAt, context.lastRenewAt),
    enqueue: ready('enqueue', (jobs, call) =>
      enqueue(context, jobs, startCall('enqueue', call), (...sent) => context.connections.attempt(...sent), {
        mayFail: true,
      }),
    ),
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
    transactional: createTransactional(context),
  };
}
