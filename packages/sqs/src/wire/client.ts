import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SuretyError } from '@surety/core/errors';
import { ADAPTER } from '../call.ts';
import type { ResolvedOptions } from '../options.ts';
import type { HotCalls } from './hot-calls.ts';
import { type Agents, CONNECT_MS } from './http-post.ts';
import { LeanCalls } from './lean-calls.ts';
import { sdkCalls } from './sdk-calls.ts';
import type { ServerClock } from './server-clock.ts';

/** Connections that wait for jobs: one per queue, more while a queue is deep. */
const RECEIVING_SOCKETS = 200;
const SENDING_SOCKETS = 50;

/** A client with connections of its own, so that requests that wait for jobs keep none from the others. */
export interface WireClient {
  readonly client: SQSClient;
  readonly hot: HotCalls;
  /** Throws OPTIONS_INVALID for a client that cannot be used. */
  check(): Promise<void>;
  /** A request got no answer: idle connections may be as dead as its own was. */
  distrust(): void;
  close(): void;
}

export function receivingClient(options: ResolvedOptions, clock: ServerClock): WireClient {
  return makeClient(options, clock, RECEIVING_SOCKETS);
}

export function sendingClient(options: ResolvedOptions, clock: ServerClock): WireClient {
  return makeClient(options, clock, SENDING_SOCKETS);
}

function makeClient(options: ResolvedOptions, clock: ServerClock, maxSockets: number): WireClient {
  const pool = { keepAlive: true, maxSockets, scheduling: 'lifo' } as const;
  const agents: Agents = { http: new HttpAgent(pool), https: new HttpsAgent(pool) };
  const client = options.client?.() ?? ownClient(options, agents);
  client.middlewareStack.add(
    (next) => async (given) => {
      const sentAt = performance.now();
      const result = await next(given);
      const { headers } = result.response as { readonly headers?: Readonly<Record<string, string>> };
      const date = Date.parse(headers?.['date'] ?? '');
      if (!Number.isNaN(date)) clock.heardSecond(date, sentAt, performance.now());
      return result;
    },
    { step: 'deserialize', name: 'suretyServerClock' },
  );
  return {
    client,
    hot: options.transport === 'sdk' ? sdkCalls(client) : new LeanCalls(client, agents, clock),
    async check() {
      if ((await client.config.maxAttempts()) === 1) return;
      throw new SuretyError('OPTIONS_INVALID', 'The client repeats requests by itself.', {
        adapter: ADAPTER,
        operation: 'open',
        remedy: 'Make it with maxAttempts: 1. It would send a job twice whose answer was lost.',
      });
    },
    distrust() {
      for (const agent of [agents.http, agents.https])
        for (const sockets of Object.values(agent.freeSockets))
          for (const socket of sockets ?? []) socket.destroy();
    },
    close() {
      client.destroy();
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

function ownClient({ region, endpoint, credentials }: ResolvedOptions, agents: Agents): SQSClient {
  return new SQSClient({
    region,
    // The adapter knows what may be repeated, the client does not: it would send a job twice whose answer was lost.
    maxAttempts: 1,
    // Together a quarter of the client's time for a request: its chain of steps is the same each time, and TLS guards the bodies already.
    cacheMiddleware: true,
    md5: false,
    requestHandler: {
      httpAgent: agents.http,
      httpsAgent: agents.https,
      connectionTimeout: CONNECT_MS,
      requestTimeout: 0,
    },
    // The URLs of an emulator name a host that it may not have here.
    ...(endpoint !== null && { endpoint, useQueueUrlAsEndpoint: false }),
    ...(credentials !== null && credentials !== undefined && { credentials }),
  });
}
