import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SqsServer, startSqs } from '../src/index.ts';

let server: SqsServer;
let url = '';
beforeAll(async () => {
  server = await startSqs();
  url = String((await ask('CreateQueue', { QueueName: 'q' })).body['QueueUrl']);
});
afterAll(() => server.destroy());

type Answer = Readonly<Record<string, unknown>> & {
  readonly Messages?: readonly { readonly Body: string; readonly ReceiptHandle: string }[];
  readonly Failed?: readonly { readonly Id: string; readonly Code: string }[];
};

async function ask(
  action: string,
  body: unknown,
): Promise<{ readonly status: number; readonly body: Answer }> {
  const response = await fetch(server.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer };
}

async function receiveOne(
  VisibilityTimeout = 30,
): Promise<{ readonly Body: string; readonly ReceiptHandle: string }> {
  const { body } = await ask('ReceiveMessage', { QueueUrl: url, WaitTimeSeconds: 5, VisibilityTimeout });
  const [message] = body.Messages ?? [];
  if (message === undefined) throw new Error('no message came');
  return message;
}

describe('limits that the emulator forgets', () => {
  test.each([
    ['SendMessage', { MessageBody: 'x', DelaySeconds: 901 }],
    ['SendMessage', { MessageBody: 'x', DelaySeconds: 1.5 }],
    ['ReceiveMessage', { VisibilityTimeout: 43_201 }],
    ['ReceiveMessage', { VisibilityTimeout: 0.5 }],
    [
      'SendMessage',
      {
        MessageBody: 'x',
        MessageAttributes: Object.fromEntries(
          Array.from({ length: 11 }, (_, n) => [`a${n}`, { DataType: 'String', StringValue: 'v' }]),
        ),
      },
    ],
  ])('%s %j is refused', async (action, parameters) => {
    expect(await ask(action, { QueueUrl: url, ...parameters })).toMatchObject({ status: 400 });
  });

  test('no message is hidden for more than twelve hours from its receive', async () => {
    await ask('SendMessage', { QueueUrl: url, MessageBody: 'held' });
    const { ReceiptHandle } = await receiveOne();
    const entry = { QueueUrl: url, ReceiptHandle, VisibilityTimeout: 43_200 };
    expect((await ask('ChangeMessageVisibility', entry)).status).toBe(400);
    expect((await ask('ChangeMessageVisibility', { ...entry, VisibilityTimeout: 43_000 })).status).toBe(200);
    await ask('DeleteMessage', { QueueUrl: url, ReceiptHandle });
  });
});

describe('faults', () => {
  test('a delete by a handle that is no longer the newest is obeyed', async () => {
    await ask('SendMessage', { QueueUrl: url, MessageBody: 'twice' });
    const first = await receiveOne(0);
    const second = await receiveOne();
    expect(second.Body).toBe(first.Body);
    await ask('DeleteMessage', { QueueUrl: url, ReceiptHandle: first.ReceiptHandle });
    const counts = await ask('GetQueueAttributes', {
      QueueUrl: url,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    });
    expect(counts.body['Attributes']).toEqual({
      ApproximateNumberOfMessages: '0',
      ApproximateNumberOfMessagesNotVisible: '0',
    });
  });

  test('a lost answer comes after the deed; a failed entry fails alone; both are in the log', async () => {
    await server.setFaults({ seed: 3, lostAnswer: { SendMessage: 1 }, failedEntry: 0.5 });
    await expect(ask('SendMessage', { QueueUrl: url, MessageBody: 'unheard' })).rejects.toThrow();
    const Entries = Array.from({ length: 10 }, (_, n) => ({ Id: `${n}`, MessageBody: `b${n}` }));
    const { body } = await ask('SendMessageBatch', { QueueUrl: url, Entries });
    await server.setFaults({});
    const failed = body.Failed?.length ?? 0;
    expect(failed).toBeGreaterThan(0);
    expect(failed).toBeLessThan(10);
    const kinds = (await server.faultLog()).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'failed-entry')).toHaveLength(failed);
    expect(kinds).toContain('lost-answer');
    const counts = await ask('GetQueueAttributes', {
      QueueUrl: url,
      AttributeNames: ['ApproximateNumberOfMessages'],
    });
    expect(counts.body['Attributes']).toEqual({ ApproximateNumberOfMessages: `${11 - failed}` });
  });

  test('messages, tags and what is hidden outlive SIGKILL', async () => {
    await ask('TagQueue', { QueueUrl: url, Tags: { a: 'b' } });
    const before = await receiveOne();
    await ask('ChangeMessageVisibility', {
      QueueUrl: url,
      ReceiptHandle: before.ReceiptHandle,
      VisibilityTimeout: 0,
    });
    await server.kill();
    await server.start();
    expect((await ask('ListQueueTags', { QueueUrl: url })).body['Tags']).toEqual({ a: 'b' });
    expect((await receiveOne()).Body).not.toBe('');
  });
});
