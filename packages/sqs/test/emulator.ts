import { randomUUID } from 'node:crypto';
import type { Backend, Lease, NewJob } from '@surety/core/contract';
import type { SqsServer } from '@surety/testbed';
import { type SqsOptions, sqs } from '../src/index.ts';

export const CALL = { timeoutMs: 15_000 };

/** Options for an emulator, with waits that a test can sit out. */
export function optionsFor(endpoint: string, more: Partial<SqsOptions> = {}): SqsOptions {
  return {
    region: 'us-east-1',
    endpoint,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    pollSeconds: 1,
    pauseCheckMs: 1000,
    delayCheckMs: 500,
    ...more,
  };
}

/** An opened backend. */
export async function connected(
  { endpoint }: Pick<SqsServer, 'endpoint'>,
  more: Partial<SqsOptions> = {},
): Promise<Backend> {
  const backend = sqs(optionsFor(endpoint, more));
  await backend.open({ ...CALL, notify: () => undefined });
  return backend;
}

export function newJob(queue: string, overrides: Partial<NewJob> = {}): NewJob {
  const id = randomUUID();
  return {
    id,
    queue,
    type: 'test.job',
    payload: '{"a":1}',
    headers: {},
    idempotencyKey: id,
    delayMs: 0,
    expiresInMs: null,
    priority: 1,
    dedupe: null,
    maxAttempts: null,
    maxDepth: null,
    ...overrides,
  };
}

/** One claim that waits a moment. */
export async function claim(
  backend: Backend,
  queue: string,
  max: number,
  leaseMs: number,
  waitMs = 500,
): Promise<readonly Lease[]> {
  const request = { queue, max, leaseMs, waitMs, nonce: randomUUID(), signal: null, ...CALL };
  return (await backend.claim(request)).leases;
}

/** Claims until a job came. */
export async function claimOne(backend: Backend, queue: string, leaseMs = 30_000): Promise<Lease> {
  for (;;) {
    const [lease] = await claim(backend, queue, 1, leaseMs);
    if (lease !== undefined) return lease;
  }
}

/** How many messages of a queue of SQS are visible. */
export async function visible({ endpoint }: Pick<SqsServer, 'endpoint'>, name: string): Promise<number> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.GetQueueAttributes' },
    body: JSON.stringify({
      QueueUrl: `${endpoint}/000000000000/${name}`,
      AttributeNames: ['ApproximateNumberOfMessages'],
    }),
  });
  const { Attributes } = (await response.json()) as {
    readonly Attributes?: Readonly<Record<string, string>>;
  };
  return Number(Attributes?.['ApproximateNumberOfMessages']);
}
