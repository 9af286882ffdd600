import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Lease } from '@surety/core/contract';
import { startChild, startSqs } from '@surety/testbed';
import { expect, test } from 'vitest';
import { namesOf } from '../src/names.ts';
import { CALL, claim, claimOne, connected, newJob } from './emulator.ts';

const QUEUE = 'hop';
const MINUTE_MS = 60_000;

/** A way to the service that ends in front of one kind of request. */
interface Front extends AsyncDisposable {
  readonly endpoint: string;
  /** Resolves when such a request came; it goes no further. */
  readonly reached: Promise<void>;
}

async function startFront(behind: string, isLast: (action: string, body: string) => boolean): Promise<Front> {
  const reached = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const target = String(request.headers['x-amz-target']);
      if (isLast(target.slice(target.indexOf('.') + 1), body)) return reached.resolve();
      const answer = await fetch(behind, {
        method: 'POST',
        headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target },
        body,
      });
      response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(await answer.text());
    })().catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reached: reached.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test('a pump that is killed between the new message and the end of the old one loses no job: it runs twice, each time as due and unharmed (B061)', async () => {
  await using server = await startSqs({ durable: false });
  const { ready, delay } = namesOf('surety', QUEUE);
  await using front = await startFront(
    server.endpoint,
    (action, body) => action === 'DeleteMessageBatch' && body.includes(delay),
  );
  const producer = await connected(server);
  const job = newJob(QUEUE, { delayMs: 20 * MINUTE_MS });
  await producer.enqueue([job], CALL);
  const scheduled = async (): Promise<number | null> => (await producer.counts(QUEUE, CALL)).scheduled.value;
  expect(await scheduled()).toBe(1);

  // Five minutes later the last fifteen begin, which the service itself can keep it back for.
  await server.elapse({ all: [delay], delayed: [] }, 5 * MINUTE_MS + 1000);
  const pump = await startChild(new URL('./programs/pump-worker.ts', import.meta.url), {
    args: [front.endpoint, QUEUE],
  });
  await front.reached;
  await pump.kill9();
  expect(await scheduled()).toBe(2);

  // What the dead pump had in its hands is seen again by the next one.
  const worker = await connected(server);
  await server.elapse({ all: [delay], delayed: [ready] }, 2 * MINUTE_MS);
  expect(await claim(worker, QUEUE, 10, 30_000, 1500)).toEqual([]);
  await expect.poll(() => visibleOrHeld(server.endpoint, delay), { timeout: 20_000 }).toBe(0);
  await server.elapse({ all: [], delayed: [ready] }, 13 * MINUTE_MS);
  const copies: Lease[] = [await claimOne(worker, QUEUE), await claimOne(worker, QUEUE)];
  for (const { id, attempt, lostClaims, idempotencyKey } of copies)
    expect({ id, attempt, lostClaims, idempotencyKey }).toEqual({
      id: job.id,
      attempt: 1,
      lostClaims: 0,
      idempotencyKey: job.idempotencyKey,
    });
  await worker.settle(
    copies.map((lease) => ({ kind: 'complete', lease, outcome: 'completed' })),
    CALL,
  );
  expect(await claim(worker, QUEUE, 10, 30_000, 1500)).toEqual([]);
  expect(await scheduled()).toBe(0);
  await Promise.all([producer, worker].map((backend) => backend.close({ graceMs: 4000 })));
});

async function visibleOrHeld(endpoint: string, name: string): Promise<number> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.GetQueueAttributes' },
    body: JSON.stringify({ QueueUrl: `${endpoint}/000000000000/${name}`, AttributeNames: FIGURES }),
  });
  const { Attributes = {} } = (await response.json()) as {
    readonly Attributes?: Readonly<Record<string, string>>;
  };
  return FIGURES.reduce((sum, figure) => sum + Number(Attributes[figure] ?? 0), 0);
}

const FIGURES = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
];
