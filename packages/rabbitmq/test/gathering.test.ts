import type { Message } from 'amqplib';
import { describe, expect, it } from 'vitest';
import { Acknowledgements, NOT_SENT } from '../src/claims/acknowledgements.ts';
import { Arrivals } from '../src/claims/arrivals.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function message(deliveryTag: number): Message {
  return { fields: { deliveryTag } } as Message;
}

function tagsOf(messages: readonly Message[]): readonly number[] {
  return messages.map(({ fields }) => fields.deliveryTag);
}

describe('acknowledgements', () => {
  it('of one turn go out together, and each caller hears of the arrival', async () => {
    const sent: (readonly number[])[] = [];
    const arrived = Promise.withResolvers<void>();
    const acknowledgements = new Acknowledgements((tags) => {
      sent.push(tags);
      return arrived.promise;
    });
    let ended = 0;
    const calls = [[1], [2, 3], [4]].map((tags) => acknowledgements.add(tags).then(() => ended++));
    await turn();
    await turn();
    expect([sent, ended]).toEqual([[[1, 2, 3, 4]], 0]);
    arrived.resolve();
    await Promise.all(calls);
    await acknowledgements.add([5]);
    expect(sent).toEqual([[1, 2, 3, 4], [5]]);
  });

  it('that could not be sent are told apart from those whose answer was lost', async () => {
    const closed = new Acknowledgements(() => {
      throw new Error('channel closed');
    });
    expect(await closed.add([1])).toBe(NOT_SENT);
    const cut = new Acknowledgements(() => Promise.reject(new Error('connection closed')));
    await expect(cut.add([1])).rejects.toThrow('connection closed');
  });
});

describe('arrivals', () => {
  it('are told of once for all that came in one turn, in order', async () => {
    let told = 0;
    const arrivals = new Arrivals(() => void told++);
    for (const tag of [1, 2, 3]) arrivals.add(message(tag));
    expect([told, arrivals.count]).toEqual([0, 3]);
    await turn();
    expect([told, tagsOf(arrivals.take(2)), tagsOf(arrivals.take(9))]).toEqual([1, [1, 2], [3]]);
  });

  it('go to whoever gathers before anybody else is told', async () => {
    let told = 0;
    const arrivals = new Arrivals(() => void told++);
    const gathering = arrivals.gather(2);
    arrivals.add(message(1));
    arrivals.add(message(2));
    await gathering;
    expect([told, tagsOf(arrivals.take(2))]).toEqual([0, [1, 2]]);
    expect(arrivals.gather(0)).toBeNull();
    await turn();
    const before = told;
    arrivals.add(message(3));
    await turn();
    expect(told).toBe(before + 1);
  });

  it('that do not come are waited for only a moment', async () => {
    const arrivals = new Arrivals(() => undefined);
    arrivals.add(message(1));
    await arrivals.gather(100);
    expect(tagsOf(arrivals.take(100))).toEqual([1]);
  });
});
