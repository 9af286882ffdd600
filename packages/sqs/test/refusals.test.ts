import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateQueueCommand, DeleteQueueCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type SqsServer, startSqs } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqs } from '../src/index.ts';
import { CALL, claim, connected, newJob, optionsFor } from './emulator.ts';

let server: SqsServer;
beforeAll(async () => {
  server = await startSqs({ durable: false });
});
afterAll(() => server.destroy());

async function code(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'success',
    (error: { readonly code?: unknown }) => error.code,
  );
}

function plainClient(): SQSClient {
  return new SQSClient({
    region: 'us-east-1',
    endpoint: server.endpoint,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    useQueueUrlAsEndpoint: false,
  });
}

async function makeQueue(name: string, attributes: Record<string, string>): Promise<void> {
  const client = plainClient();
  await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
  client.destroy();
}

async function deleteQueue(name: string): Promise<void> {
  const client = plainClient();
  const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: name }));
  await client.send(new DeleteQueueCommand({ QueueUrl }));
  client.destroy();
}

describe('options', () => {
  test.each([
    [{ region: 'nowhere' }, 'region'],
    [{ region: 'eu-central-1', endpoint: 'ftp://x' }, 'endpoint'],
    [{ region: 'eu-central-1', prefix: 'a-b' }, 'prefix'],
    [{ region: 'eu-central-1', maxMessageBytes: 1000 }, 'maxMessageBytes'],
    [{ region: 'eu-central-1', pollSeconds: 21 }, 'pollSeconds'],
    [{ region: 'eu-central-1', pauseCheck: 5 }, 'pauseCheck'],
    [{ region: 'eu-central-1', queues: ['mail.fifo'] }, 'FIFO'],
  ])('that cannot be are named: %j', (options, word) => {
    expect(() => sqs(options as Parameters<typeof sqs>[0])).toThrow(new RegExp(word));
  });
});

describe('a queue', () => {
  test('that is missing is refused where none may be made, and nothing is made (B001)', async () => {
    const backend = await connected(server, { create: false, prefix: 'none' });
    const [outcome] = await backend.enqueue([newJob('mail')], CALL);
    expect(outcome).toMatchObject({ status: 'rejected', error: { code: 'SCHEMA_MISSING' } });
    expect(await code(claim(backend, 'mail', 1, 30_000))).toBe('SCHEMA_MISSING');
    expect(await backend.queues(CALL)).toEqual([]);
    await backend.close({ graceMs: 3000 });
  });

  test.each([
    ['short', { MessageRetentionPeriod: '345600' }, /MessageRetentionPeriod 345600 s; 1209600 s is needed/],
    [
      'small',
      { MessageRetentionPeriod: '1209600', MaximumMessageSize: '262144' },
      /MaximumMessageSize 262144/,
    ],
  ])(
    'with other attributes is refused by name, and left as it is: %s',
    async (queue, attributes, message) => {
      await makeQueue(`other-${queue}`, attributes);
      const backend = await connected(server, { prefix: 'other' });
      const [outcome] = await backend.enqueue([newJob(queue)], CALL);
      expect(outcome).toMatchObject({ status: 'rejected', error: { code: 'STORE_UNSUITABLE' } });
      expect(outcome?.status === 'rejected' && outcome.error.message).toMatch(message);
      await backend.close({ graceMs: 3000 });
    },
  );

  test('that is deleted behind us is made again, and no job is told to be stored that is not (B001)', async () => {
    const backend = await connected(server, { prefix: 'again' });
    await backend.enqueue([newJob('mail')], CALL);
    await deleteQueue('again-mail');
    const [outcome] = await backend.enqueue([newJob('mail')], CALL);
    expect(outcome?.status).toBe('accepted');
    expect(await claim(backend, 'mail', 10, 30_000, 3000)).toHaveLength(1);
    await backend.close({ graceMs: 3000 });
  });
});

describe('what the service answers', () => {
  let asked = 0;
  let answer: { readonly status: number; readonly type: string } = { status: 400, type: '' };
  let stub: Server;
  let endpoint = '';
  beforeAll(async () => {
    stub = createServer((request, response) => {
      asked += 1;
      request.resume();
      response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ __type: `com.amazonaws.sqs#${answer.type}`, message: 'no' }));
    }).listen(0, '127.0.0.1');
    await once(stub, 'listening');
    endpoint = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`;
  });
  afterAll(() => stub.close());

  test.each([
    ['InvalidClientTokenId', 403, 'PERMISSION_DENIED', 1],
    ['SignatureDoesNotMatch', 403, 'PERMISSION_DENIED', 1],
    ['ThrottlingException', 400, 'BACKEND_OVERLOADED', 6],
    ['ServiceUnavailable', 503, 'BACKEND_UNAVAILABLE', 6],
  ])(
    '%s ends open with a code after %d to %s, without a storm (B024)',
    async (type, status, expected, most) => {
      answer = { status, type };
      asked = 0;
      const backend = sqs(optionsFor(endpoint));
      expect(await code(backend.open({ timeoutMs: 8000, notify: () => undefined }))).toBe(expected);
      expect(asked).toBeLessThanOrEqual(most);
      expect(backend.health().ok).toBe(false);
    },
  );

  test('a missing right is named', async () => {
    answer = { status: 403, type: 'AccessDenied' };
    const backend = sqs(optionsFor(endpoint));
    // Whoever may use one queue only is not refused for asking after another.
    await backend.open({ timeoutMs: 5000, notify: () => undefined });
    const [outcome] = await backend.enqueue([newJob('mail')], CALL);
    expect(outcome?.status === 'rejected' && outcome.error.message).toMatch(/Grant sqs:GetQueueUrl/);
    await backend.close({ graceMs: 1000 });
  });
});
