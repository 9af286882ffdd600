import { startSqs } from '@surety/testbed';
import { expect, test } from 'vitest';
import { reminders, signedUp, signUps } from '../reminders.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const QUEUES = { all: ['surety-mail-DELAY'], delayed: ['surety-mail'] };

test('a reminder comes after three days, not before, although the service keeps nothing back for longer than 15 minutes', async () => {
  await using server = await startSqs();
  const options = {
    region: server.region,
    endpoint: server.endpoint,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    pollSeconds: 1,
    delayCheckMs: 100,
  };
  await using client = signUps(options);
  const sent: string[] = [];
  await using worker = reminders(options, async (email, key) => void sent.push(`${email}, ${key}`));
  await worker.start();
  await signedUp(client, 'ada@example.com');
  for (let day = 0; day < 2; day++) await server.elapse(QUEUES, DAY_MS);
  expect(sent).toEqual([]);
  await server.elapse(QUEUES, DAY_MS);
  await expect.poll(() => sent, { timeout: 20_000 }).toEqual(['ada@example.com, remind ada@example.com']);
});
