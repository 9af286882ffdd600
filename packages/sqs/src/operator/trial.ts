import { randomBytes } from 'node:crypto';
import { DeleteQueueCommand, ListQueuesCommand } from '@aws-sdk/client-sqs';
import type { StoreAddress, Trial } from '@surety/core/operator';
import type { Call } from '../call.ts';
import { sqs } from '../index.ts';
import { resolveOptions, type SqsOptions } from '../options.ts';
import type { Session } from '../session.ts';
import { optionsOf } from './address.ts';
import { clientVersion } from './client-version.ts';
import { visit } from './visit.ts';

/** Begin of the prefixes of trials. */
export const TRIAL_PREFIX = 'suretyverify';
/** Nobody listens on port 1. */
const NOBODY = 'http://127.0.0.1:1';
const REMOVE_WITHIN_MS = 60_000;

/** Queues of its own in the same region, under a prefix that nobody else has. */
export async function openTrial(address: StoreAddress, timeoutMs: number): Promise<Trial> {
  const prefix = `${TRIAL_PREFIX}${randomBytes(4).toString('hex')}`;
  const options: SqsOptions = {
    ...optionsOf(address),
    prefix,
    queues: [],
    // A trial has no time to save requests.
    pollSeconds: 2,
    pauseCheckMs: 2000,
    delayCheckMs: 5000,
  };
  await visit(resolveOptions(options), 'trial', { timeoutMs }, async () => undefined);
  const server =
    options.endpoint === undefined ? `Amazon SQS in ${options.region}` : `SQS at ${options.endpoint}`;
  return {
    where: `the queues ${prefix}-*`,
    serverless: false,
    versions: { server, client: `@aws-sdk/client-sqs ${clientVersion()}` },
    backend: () => sqs(options),
    unreachable: () => sqs({ ...options, endpoint: NOBODY }),
    connect: { module: trialModule(), args: options },
    [Symbol.asyncDispose]: () =>
      visit(resolveOptions(options), 'trial', { timeoutMs: REMOVE_WITHIN_MS }, (session, call) =>
        removeAll(session, prefix, call),
      ),
  };
}

/** All queues whose names begin so. */
export async function queuesUnder(session: Session, begin: string, call: Call): Promise<readonly string[]> {
  const urls: string[] = [];
  let token: string | undefined;
  do {
    const page = await ask(session, 'ListQueues', null, call, (abortSignal) =>
      session.sending.client.send(
        new ListQueuesCommand({
          QueueNamePrefix: begin,
          MaxResults: 1000,
          ...(token !== undefined && { NextToken: token }),
        }),
        { abortSignal },
      ),
    );
    urls.push(...(page.QueueUrls ?? []));
    token = page.NextToken;
  } while (token !== undefined && token !== '');
  return urls;
}

async function removeAll(session: Session, prefix: string, call: Call): Promise<void> {
  for (const url of await queuesUnder(session, `${prefix}-`, call)) {
    await ask(session, 'DeleteQueue', url, call, (abortSignal) =>
      session.sending.client.send(new DeleteQueueCommand({ QueueUrl: url }), { abortSignal }),
    );
  }
}

function ask<T>(
  { requests, sending: wire }: Session,
  action: string,
  url: string | null,
  call: Call,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return requests.ask(call, { action, verb: 'control', url, wire, isRepeatable: true, send });
}

/** Keeps the ending of this module: `.ts` from source, `.js` when built. */
function trialModule(): string {
  return new URL(`./connect${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href;
}
