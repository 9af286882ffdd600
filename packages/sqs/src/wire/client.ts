import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { ResolvedOptions } from '../options.ts';
import type { ServerClock } from './server-clock.ts';

/** Connections that wait for jobs: one per queue, more while a queue is deep. */
const RECEIVING_SOCKETS = 200;
const SENDING_SOCKETS = 50;
const CONNECT_MS = 5000;

/** A client with connections of its own, so that requests that wait for jobs keep none from the others. */
export interface WireClient {
  readonly client: SQSClient;
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
  const { region, endpoint, credentials } = options;
  const pool = { keepAlive: true, maxSockets, scheduling: 'lifo' } as const;
  const [httpAgent, httpsAgent] = [new HttpAgent(pool), new HttpsAgent(pool)];
  const client = new SQSClient({
    region,
    // The adapter knows what may be repeated, the client does not: it would send a job twice whose answer was lost.
    maxAttempts: 1,
    // Together a quarter of the client's time for a request: its chain of steps is the same each time, and TLS guards the bodies already.
    cacheMiddleware: true,
    md5: false,
    requestHandler: { httpAgent, httpsAgent, connectionTimeout: CONNECT_MS, requestTimeout: 0 },
    // The URLs of an emulator name a host that it may not have here.
    ...(endpoint !== null && { endpoint, useQueueUrlAsEndpoint: false }),
    ...(credentials !== null && credentials !== undefined && { credentials }),
  });
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
    distrust() {
      for (const agent of [httpAgent, httpsAgent])
        for (const sockets of Object.values(agent.freeSockets))
          for (const socket of sockets ?? []) socket.destroy();
    },
    close() {
      client.destroy();
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}
