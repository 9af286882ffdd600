import type { Notice } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import { expect, test } from 'vitest';
import { endOriginal } from '../src/copies.ts';
import type { Batcher, EntryResult } from '../src/wire/batcher.ts';

const error = new SuretyError('BACKEND_TIMEOUT', 'No answer came.', { adapter: 'sqs' });
const DONE: EntryResult = { status: 'done' };
const UNKNOWN: EntryResult = { status: 'unknown', error };
const REFUSED: EntryResult = { status: 'refused', error, native: 'ReceiptHandleIsInvalid' };
const ORIGINAL = { queue: 'mail', id: 'job-1', url: 'http://queue', handle: 'handle' };

/** What is told, and how often the original was deleted. */
async function ended(
  sent: EntryResult,
  deleted: EntryResult,
): Promise<{ told: readonly Notice[]; deletes: number }> {
  const told: Notice[] = [];
  let deletes = 0;
  const deleter = {
    add: async () => {
      deletes += 1;
      return deleted;
    },
  } as unknown as Batcher<{ readonly ReceiptHandle: string }>;
  const call = { operation: 'claim', deadline: performance.now() + 1000, signal: null };
  await endOriginal({ deleter, notify: (notice) => void told.push(notice) }, ORIGINAL, sent, call);
  return { told, deletes };
}

test('the original is deleted once its copy is stored, and nothing is told', async () => {
  expect(await ended(DONE, DONE)).toEqual({ told: [], deletes: 1 });
});

test('the original stays, and nothing is told, where no copy can have been stored', async () => {
  expect(await ended(REFUSED, DONE)).toEqual({ told: [], deletes: 0 });
});

test.each([
  ['the answer to the copy was lost', UNKNOWN, DONE, 0],
  ['the answer to the delete was lost', DONE, UNKNOWN, 1],
  ['the message was no longer ours', DONE, REFUSED, 1],
] as const)('B061: that there may be two is told with the id: %s', async (_, sent, deleted, deletes) => {
  const end = await ended(sent, deleted);
  expect(end.deletes).toBe(deletes);
  expect(end.told).toMatchObject([{ kind: 'warning', code: 'OUTCOME_UNKNOWN' }]);
  expect(JSON.stringify(end.told)).toContain('job-1');
});
