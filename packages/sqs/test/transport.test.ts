import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { meaningOf } from '../src/native-errors.ts';
import { resolveOptions, type SqsOptions } from '../src/options.ts';
import { sendingClient, type WireClient } from '../src/wire/client.ts';
import type { HotAction, HotInputs } from '../src/wire/hot-calls.ts';
import { ServerClock } from '../src/wire/server-clock.ts';
import { optionsFor } from './emulator.ts';
import { reply, type StubService, startStub } from './stub-service.ts';

const URL_OF_QUEUE = 'https://sqs.us-east-1.amazonaws.com/1/q';
const INPUTS: HotInputs = {
  ReceiveMessage: {
    QueueUrl: URL_OF_QUEUE,
    MaxNumberOfMessages: 10,
    VisibilityTimeout: 32,
    WaitTimeSeconds: 0,
    MessageSystemAttributeNames: ['SentTimestamp'],
  },
  SendMessageBatch: {
    QueueUrl: URL_OF_QUEUE,
    Entries: [{ Id: '0', MessageBody: 'ä \u{1f600} "\\\n', DelaySeconds: 0 }],
  },
  DeleteMessageBatch: { QueueUrl: URL_OF_QUEUE, Entries: [{ Id: '0', ReceiptHandle: 'h' }] },
  ChangeMessageVisibilityBatch: {
    QueueUrl: URL_OF_QUEUE,
    Entries: [{ Id: '0', ReceiptHandle: 'h', VisibilityTimeout: 30 }],
  },
};
const ACTIONS = Object.keys(INPUTS) as HotAction[];

let stub: StubService;
const wires: WireClient[] = [];
beforeAll(async () => {
  stub = await startStub();
});
beforeEach(() => {
  stub.heard.length = 0;
  stub.answer = (_, response) => reply(response, 200, {});
});
afterAll(async () => {
  for (const wire of wires) wire.close();
  await stub[Symbol.asyncDispose]();
});

function wireOf(more: Partial<SqsOptions>, clock = new ServerClock()): WireClient {
  const { endpoint, credentials, ...plain } = optionsFor(stub.endpoint);
  const own = more.client === undefined && { endpoint, credentials };
  const wire = sendingClient(resolveOptions({ ...plain, ...own, ...more } as SqsOptions), clock);
  wires.push(wire);
  return wire;
}

function ask(
  wire: WireClient,
  action: HotAction,
  signal: AbortSignal = new AbortController().signal,
): Promise<unknown> {
  return wire.hot.ask(action, INPUTS[action], signal);
}

interface Fault {
  readonly name: string;
  readonly message: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  return work.then(
    () => expect.fail('it succeeded'),
    (error: Fault) => error,
  );
}

describe('the lean transport sends what the AWS SDK sends', () => {
  test.each(ACTIONS)('%s', async (action) => {
    const credentials = { accessKeyId: 'A', secretAccessKey: 's', sessionToken: 't/+=' };
    await ask(wireOf({ transport: 'sdk', credentials }), action);
    await ask(wireOf({ transport: 'lean', credentials }), action);
    const [theirs, ours] = stub.heard;
    expect(JSON.parse(ours?.body ?? '')).toEqual(JSON.parse(theirs?.body ?? '{}'));
    for (const name of ['host', 'content-type', 'x-amz-target', 'x-amzn-query-mode', 'x-amz-security-token'])
      expect([name, ours?.headers[name]]).toEqual([name, theirs?.headers[name]]);
    expect(ours?.headers['content-length']).toBe(String(Buffer.byteLength(ours?.body ?? '')));
    const scope = /Credential=A\/\d{8}\/us-east-1\/sqs\/aws4_request/;
    expect(theirs?.headers.authorization).toMatch(scope);
    expect(ours?.headers.authorization).toMatch(scope);
    expect(ours?.headers['x-amz-date']).toMatch(/^\d{8}T\d{6}Z$/);
  });

  test('signed with the keys of the moment', async () => {
    let token = 0;
    const credentials = async () => ({
      accessKeyId: 'A',
      secretAccessKey: 's',
      sessionToken: String(++token),
      // Expired keys are asked for anew.
      expiration: new Date(Date.now() - 1000),
    });
    const wire = wireOf({ credentials });
    await ask(wire, 'ReceiveMessage');
    await ask(wire, 'ReceiveMessage');
    const tokens = stub.heard.map(({ headers }) => Number(headers['x-amz-security-token']));
    expect(tokens[1]).toBeGreaterThan(tokens[0] ?? 0);
  });

  test('hears the clock of the service in every answer, also in a refusal', async () => {
    const clock = new ServerClock();
    const then = '2031-05-06T07:08:09.000Z';
    stub.answer = (_, response) =>
      reply(response, 400, { __type: 'x#OverLimit' }, { date: new Date(then).toUTCString() });
    await faultOf(ask(wireOf({}, clock), 'ReceiveMessage'));
    expect(new Date(clock.earliest()).toISOString().slice(0, 16)).toBe(then.slice(0, 16));
  });
});

describe('an error of the service has the name that it has with the AWS SDK', () => {
  test.each([
    [400, { __type: 'com.amazonaws.sqs#QueueDoesNotExist', message: 'gone' }, {}],
    [
      400,
      { __type: 'com.amazonaws.sqs#QueueDoesNotExist', message: 'gone' },
      { 'x-amzn-query-error': 'AWS.SimpleQueueService.NonExistentQueue;Sender' },
    ],
    [400, { __type: 'com.amazonaws.sqs#OverLimit', message: 'too many' }, {}],
    [
      403,
      { __type: 'com.amazonaws.sqs#RequestThrottled' },
      { 'x-amzn-query-error': 'RequestThrottled;Sender' },
    ],
    [400, { __type: 'com.amazonaws.sqs#ReceiptHandleIsInvalid', message: 'no' }, {}],
    [
      400,
      { __type: 'com.amazonaws.sqs#MessageNotInflight' },
      { 'x-amzn-query-error': 'AWS.SimpleQueueService.MessageNotInflight;Sender' },
    ],
    [
      400,
      { __type: 'com.amazonaws.sqs#KmsThrottled' },
      { 'x-amzn-query-error': 'KMS.ThrottlingException;Sender' },
    ],
    [403, { __type: 'com.amazon.coral.service#AccessDeniedException', Message: 'not you' }, {}],
    [
      400,
      { __type: 'com.amazonaws.sqs#InvalidParameterValueException', message: 'bad' },
      { 'x-amzn-query-error': 'InvalidParameterValue;Sender' },
    ],
    [400, {}, { 'x-amzn-errortype': 'ThrottlingException:http://internal.amazon.com/' }],
    [503, { __type: 'ServiceUnavailable', message: 'later' }, { 'retry-after': '1' }],
  ] as const)('%d %j %j', async (status, content, headers) => {
    stub.answer = (_, response) => reply(response, status, content, headers);
    const theirs = await faultOf(ask(wireOf({ transport: 'sdk' }), 'ReceiveMessage'));
    const ours = await faultOf(ask(wireOf({ transport: 'lean' }), 'ReceiveMessage'));
    expect([ours.name, ours.$metadata?.httpStatusCode]).toEqual([
      theirs.name,
      theirs.$metadata?.httpStatusCode,
    ]);
    expect(meaningOf(ours)).toEqual(meaningOf(theirs));
    const said = 'message' in content ? content.message : null;
    if (said !== null) expect(ours.message).toBe(said);
  });

  test('an answer of something in between goes by its status', async () => {
    stub.answer = (_, response) => reply(response, 502, '<html>Bad Gateway</html>');
    const fault = await faultOf(ask(wireOf({}), 'ReceiveMessage'));
    expect(meaningOf(fault)).toMatchObject({ code: 'BACKEND_UNAVAILABLE', acted: 'unknown' });
  });
});

describe('a request that is not answered', () => {
  test('ends with its signal', async () => {
    stub.answer = () => undefined;
    const late = new AbortController();
    const asked = faultOf(ask(wireOf({}), 'ReceiveMessage', late.signal));
    await expect.poll(() => stub.heard.length).toBe(1);
    late.abort();
    expect(meaningOf(await asked)).toMatchObject({ code: 'BACKEND_TIMEOUT', acted: 'unknown' });
    expect((await faultOf(ask(wireOf({}), 'ReceiveMessage', late.signal))).name).toBe('AbortError');
    expect(stub.heard).toHaveLength(1);
  });

  test.each(['before', 'in the middle of'])(
    'because the connection broke %s the answer may have been done',
    async (when) => {
      stub.answer = (_, response) => {
        if (when === 'before') return void response.socket?.destroy();
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"Messages":[', () => response.socket?.destroy());
      };
      const fault = await faultOf(ask(wireOf({}), 'SendMessageBatch'));
      expect(meaningOf(fault)).toMatchObject({ code: 'BACKEND_UNAVAILABLE', acted: 'unknown' });
    },
  );

  test('because nobody listens has certainly not been done', async () => {
    const fault = await faultOf(ask(wireOf({ endpoint: 'http://127.0.0.1:1' }), 'SendMessageBatch'));
    expect(meaningOf(fault)).toMatchObject({ code: 'BACKEND_UNAVAILABLE', acted: 'no' });
  });
});

test('a clock that is far off is refused once, and then right', async () => {
  const aheadMs = 3_600_000;
  stub.answer = ({ headers }, response) => {
    const there = Date.now() + aheadMs;
    const signedAt = Date.parse(
      String(headers['x-amz-date']).replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5'),
    );
    const date = { date: new Date(there).toUTCString() };
    if (Math.abs(signedAt - there) < 300_000) return reply(response, 200, {}, date);
    reply(response, 403, { __type: 'com.amazon.coral.service#InvalidSignatureException' }, date);
  };
  const wire = wireOf({});
  const fault = await faultOf(ask(wire, 'ReceiveMessage'));
  expect(meaningOf(fault)).toMatchObject({ code: 'PERMISSION_DENIED', acted: 'no', passing: true });
  await ask(wire, 'ReceiveMessage');
  expect(stub.heard).toHaveLength(2);
});

describe('a client of your own', () => {
  const made = (more: object = {}): SQSClient =>
    new SQSClient({
      region: 'us-east-1',
      endpoint: stub.endpoint,
      credentials: { accessKeyId: 'own', secretAccessKey: 's' },
      maxAttempts: 1,
      ...more,
    });

  test('sends all requests with what was added to it, unless it is told otherwise', async () => {
    const seen: string[] = [];
    const client = (): SQSClient => {
      const own = made();
      own.middlewareStack.add(
        (next, { commandName = '' }) =>
          (given) => {
            seen.push(commandName);
            return next(given);
          },
        { step: 'initialize', name: 'traced' },
      );
      return own;
    };
    for (const action of ACTIONS) await ask(wireOf({ client }), action);
    expect(seen).toEqual(ACTIONS.map((action) => `${action}Command`));
    await ask(wireOf({ client, transport: 'lean' }), 'ReceiveMessage');
    expect(seen).toHaveLength(ACTIONS.length);
    expect(stub.heard.at(-1)?.headers.authorization).toContain('Credential=own/');
  });

  test('that repeats requests by itself is refused', async () => {
    const wire = wireOf({ client: () => made({ maxAttempts: 3 }) });
    await expect(wire.check()).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await expect(wireOf({ client: () => made() }).check()).resolves.toBeUndefined();
  });

  test('sends for a queue to where its URL points, unless it has an endpoint', async () => {
    const client = (): SQSClient => made({ endpoint: undefined });
    const wire = wireOf({ client, transport: 'lean' });
    await wire.hot.ask('ReceiveMessage', { QueueUrl: `${stub.endpoint}/1/q` }, new AbortController().signal);
    expect(stub.heard).toHaveLength(1);
  });
});
