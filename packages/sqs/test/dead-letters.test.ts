import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Backend } from '@surety/core/contract';
import { type SqsServer, startSqs } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sqs } from '../src/index.ts';
import { namesOf } from '../src/names.ts';
import { CALL, claim, claimOne, connected, newJob, optionsFor } from './emulator.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const ERROR = { code: 'HANDLER_FAILED', name: 'Error', message: 'x', stack: null, attempt: 1 };
let server: SqsServer;
beforeAll(async () => {
  server = await startSqs({ durable: false });
});
afterAll(() => server.destroy());

test('a job that dies on its 13th day is kept for 14 more (B064)', async () => {
  const backend = await connected(server);
  const job = newJob('old');
  const { ready, dead } = namesOf('surety', 'old');
  await backend.enqueue([job], CALL);
  await server.elapse({ all: [ready], delayed: [], expires: true }, 13 * DAY_MS);
  const lease = await claimOne(backend, 'old');
  await backend.settle([{ kind: 'bury', lease, error: ERROR }], CALL);
  await server.elapse({ all: [dead], delayed: [], expires: true }, 13 * DAY_MS);
  const letter = await backend.deadLetters.show('old', job.id, CALL);
  expect(letter).toMatchObject({ id: job.id, reason: 'HANDLER_FAILED' });
  expect(letter?.ageMs).toBeGreaterThan(12 * DAY_MS);
  await server.elapse({ all: [dead], delayed: [], expires: true }, 2 * DAY_MS);
  expect(await backend.deadLetters.show('old', job.id, CALL)).toBeNull();
  await backend.close({ graceMs: 3000 });
});

test('ready jobs past half of their retention are told of', async () => {
  const told: unknown[] = [];
  const backend = sqs(optionsFor(server.endpoint));
  await backend.open({ ...CALL, notify: (notice) => void told.push(notice) });
  await backend.enqueue([newJob('near'), newJob('near')], CALL);
  await server.elapse({ all: [namesOf('surety', 'near').ready], delayed: [] }, 8 * DAY_MS);
  await claimOne(backend, 'near');
  await claimOne(backend, 'near');
  expect(told).toMatchObject([{ kind: 'retention-near', queue: 'near' }]);
  await backend.close({ graceMs: 3000 });
});

describe('dead letters past half of their retention are told of', () => {
  async function withDead(
    queue: string,
    told: { readonly kind: string }[],
  ): Promise<{ readonly backend: Backend; readonly id: string }> {
    const backend = sqs(optionsFor(server.endpoint));
    await backend.open({ ...CALL, notify: (notice) => void told.push(notice) });
    const job = newJob(queue);
    await backend.enqueue([job], CALL);
    await backend.settle([{ kind: 'bury', lease: await claimOne(backend, queue), error: ERROR }], CALL);
    const { dead } = namesOf('surety', queue);
    await server.elapse({ all: [dead], delayed: [] }, 6 * DAY_MS);
    await backend.deadLetters.list({ queue, limit: 5, cursor: null, type: null }, CALL);
    expect(told).toEqual([]);
    await server.elapse({ all: [dead], delayed: [] }, 2 * DAY_MS);
    return { backend, id: job.id };
  }
  const WARNING = { kind: 'warning', code: 'DEAD_LETTERS_EXPIRE' };

  test('by whoever lists them, once (B064)', async () => {
    const told: { readonly kind: string; readonly message?: string }[] = [];
    const { backend } = await withDead('listed', told);
    for (const limit of [5, 5])
      await backend.deadLetters.list({ queue: 'listed', limit, cursor: null, type: null }, CALL);
    expect(told).toMatchObject([WARNING]);
    expect(told[0]?.message).toMatch(/queue "listed" in [56]\.\d days/);
    await backend.close({ graceMs: 3000 });
  });

  test('by every worker process within an hour, and stay where all can see them (B064)', async () => {
    const told: { readonly kind: string }[] = [];
    const { backend, id } = await withDead('watched', told);
    const real = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => real() + 61 * 60_000);
    await expect
      .poll(() => told.filter(({ kind }) => kind === 'warning'), { timeout: 20_000 })
      .toMatchObject([WARNING]);
    expect(await backend.deadLetters.show('watched', id, CALL)).toMatchObject({ id });
    vi.restoreAllMocks();
    await backend.close({ graceMs: 3000 });
  });
});

test('what is no message of ours ends in the dead letters, once, and harms no neighbour', async () => {
  const backend = await connected(server);
  const job = newJob('strange');
  await backend.enqueue([job], CALL);
  const client = new SQSClient({
    region: 'us-east-1',
    endpoint: server.endpoint,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    useQueueUrlAsEndpoint: false,
  });
  const url = `${server.endpoint}/000000000000/${namesOf('surety', 'strange').ready}`;
  await client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'hello?' }));
  client.destroy();
  expect((await claimOne(backend, 'strange')).id).toBe(job.id);
  expect(await claim(backend, 'strange', 5, 30_000)).toEqual([]);
  const listed = async (): Promise<unknown> =>
    (await backend.deadLetters.list({ queue: 'strange', limit: 5, cursor: null, type: null }, CALL)).entries;
  await expect
    .poll(listed, { timeout: 20_000 })
    .toMatchObject([{ reason: 'PAYLOAD_CORRUPT', payload: 'hello?', type: 'unreadable' }]);
  await backend.close({ graceMs: 3000 });
});
