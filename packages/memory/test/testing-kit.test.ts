import { AssertionError } from 'node:assert';
import { defineJob, type Handler, handle, PermanentError } from '@surety/core';
import { createTestKit } from '@surety/memory/testing';
import { describe, expect, onTestFinished, test } from 'vitest';

const sendReceipt = defineJob<{ orderId: number; to?: { name: string; tags: string[] } }>('receipt.send', {
  queue: 'mail',
});
const refund = defineJob<{ orderId: number }>('refund.pay', {
  retry: { maxAttempts: 3, base: '1m', cap: '1h' },
});

function kitOf(...handlers: Handler[]) {
  const kit = createTestKit({ handlers });
  onTestFinished(() => kit.close());
  return kit;
}

describe('assertEnqueued', () => {
  test('finds by part of the input, and gives back what it found', async () => {
    const kit = kitOf();
    await kit.client.enqueue(
      sendReceipt,
      { orderId: 7, to: { name: 'Ann', tags: ['a', 'b'] } },
      { delay: '1h' },
    );
    await kit.client.enqueue(sendReceipt, { orderId: 8 });
    expect(kit.assertEnqueued(sendReceipt, { count: 2 })).toHaveLength(2);
    const [job] = kit.assertEnqueued(sendReceipt, {
      input: { to: { name: 'Ann' } },
      queue: 'mail',
      count: 1,
    });
    expect(job).toMatchObject({ input: { orderId: 7 }, delayMs: 3_600_000 });
    kit.assertEnqueued(refund, { count: 0 });
    kit.assertEnqueued(sendReceipt, { input: { orderId: 7, to: { tags: ['a', 'b'] } } });
    expect(() => kit.assertEnqueued(sendReceipt, { input: { to: { tags: ['a'] } } })).toThrow(AssertionError);
  });

  test('says what was enqueued instead', async () => {
    const kit = kitOf();
    expect(() => kit.assertEnqueued(refund)).toThrow(
      "Expected at least one job 'refund.pay', found 0.\nNothing was enqueued.",
    );
    await kit.client.enqueue(sendReceipt, { orderId: 8 });
    await kit.client.enqueue(refund, { orderId: 9 });
    expect(() => kit.assertEnqueued(refund, { input: { orderId: 7 }, count: 1 })).toThrow(
      [
        `Expected exactly 1 job 'refund.pay' with input like {"orderId":7}, found 0.`,
        'Enqueued were:',
        `  - refund.pay on 'default' {"orderId":9}`,
        `  - receipt.send on 'mail' {"orderId":8}`,
      ].join('\n'),
    );
  });

  test('knows jobs that are done', async () => {
    const kit = kitOf(handle(refund, () => undefined));
    await kit.client.enqueue(refund, { orderId: 1 });
    await kit.drain();
    expect(kit.jobs()).toEqual([]);
    kit.assertEnqueued(refund, { input: { orderId: 1 } });
  });
});

describe('drain', () => {
  test('runs what is ready and what handlers enqueue, on every queue', async () => {
    const seen: string[] = [];
    const kit = kitOf(
      handle(refund, async ({ orderId }, ctx) => {
        seen.push(`refund ${orderId}`);
        await ctx.enqueue(sendReceipt, { orderId });
      }),
      handle(sendReceipt, ({ orderId }) => void seen.push(`receipt ${orderId}`)),
    );
    await kit.client.enqueue(refund, { orderId: 1 });
    await kit.client.enqueue(refund, { orderId: 2 }, { delay: '2h' });
    await kit.client.enqueue(refund, { orderId: 3 }, { queue: 'elsewhere' });
    expect(await kit.drain()).toMatchObject({ completed: 4, retried: 0, dead: 0 });
    expect(seen.toSorted()).toEqual(['receipt 1', 'receipt 3', 'refund 1', 'refund 3']);
    await kit.advance('119m');
    expect((await kit.drain()).attempts).toEqual([]);
    await kit.advance('1m');
    expect((await kit.drain()).completed).toBe(2);
  });

  test('a failing job is retried after its delay, until it is dead', async () => {
    const kit = kitOf(
      handle(refund, () => {
        throw new Error('no money');
      }),
    );
    const { id } = await kit.client.enqueue(refund, { orderId: 1 });
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      expect(await kit.drain()).toMatchObject({ completed: 0, retried: 1, dead: 0 });
      expect(kit.jobs()).toMatchObject([{ id, state: 'scheduled', attempt }]);
      await kit.advance('2h');
    }
    expect(await kit.drain()).toMatchObject({ retried: 0, dead: 1 });
    expect(kit.deadLetters()).toMatchObject([{ id, attempt: 3, lastError: { message: 'no money' } }]);
    expect(kit.deadLetters()[0]?.history).toHaveLength(3);
  });

  test('a permanent error kills at once', async () => {
    const kit = kitOf(
      handle(sendReceipt, () => {
        throw new PermanentError('no such address');
      }),
    );
    await kit.client.enqueue(sendReceipt, { orderId: 1 });
    expect(await kit.drain()).toMatchObject({ dead: 1 });
    expect(kit.deadLetters('mail')).toMatchObject([{ reason: 'PERMANENT_FAILURE', attempt: 1 }]);
  });

  test('a forgotten handler is an error, not a job that waits', async () => {
    const kit = kitOf(handle(refund, () => undefined));
    await kit.client.enqueue(sendReceipt, { orderId: 1 });
    await expect(kit.drain()).rejects.toThrow("The kit has no handler for 'receipt.send'.");
  });

  test('a handler that does not end is named', async () => {
    let release = (): void => undefined;
    const hanging = new Promise<void>((resolve) => {
      release = resolve;
    });
    const kit = kitOf(handle(refund, () => hanging));
    await kit.client.enqueue(refund, { orderId: 1 });
    await expect(kit.drain({ timeoutMs: 100 })).rejects.toThrow(
      "queue 'default' has 0 jobs ready and 1 running",
    );
    release();
    // It was handed back unharmed.
    expect(kit.jobs()).toMatchObject([{ state: 'ready', attempt: 0, interruptions: 1 }]);
  });

  test('jobs of a paused queue stay where they are', async () => {
    const kit = kitOf(handle(refund, () => undefined));
    await kit.client.enqueue(refund, { orderId: 1 });
    await kit.backend.pacing.pause('default', { timeoutMs: 1000 });
    expect((await kit.drain()).attempts).toEqual([]);
    await kit.backend.pacing.resume('default', { timeoutMs: 1000 });
    expect((await kit.drain()).completed).toBe(1);
  });
});

test('a duration that is none is refused', async () => {
  const kit = kitOf();
  expect(() => kit.advance('soon' as never)).toThrow("'soon' is not a duration");
});
