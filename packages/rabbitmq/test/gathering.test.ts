import type { Message } from 'amqplib';
import { describe, expect, it } from 'vitest';
import { Acknowledgements, type AcknowledgingChannel, NOT_SENT } from '../src/claims/acknowledgements.ts';
import { Arrivals } from '../src/claims/arrivals.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await turn();
}

function acknowledging(
  send: AcknowledgingChannel['send'],
  makeRoom: AcknowledgingChannel['makeRoom'] = turn,
): Acknowledgements {
  return new Acknowledgements({ send, makeRoom });
}

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
    const acknowledgements = acknowledging((tags) => {
      sent.push(tags);
      return { left: [], arrived: arrived.promise };
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
    const closed = acknowledging(() => {
      throw new Error('channel closed');
    });
    expect(await closed.add([1])).toBe(NOT_SENT);
    const cut = acknowledging(() => ({
      left: [],
      arrived: Promise.reject(new Error('connection closed')),
    }));
    await expect(cut.add([1])).rejects.toThrow('connection closed');
  });

  it('for which there is no room yet follow when there is, each with a question behind', async () => {
    const sent: (readonly number[])[] = [];
    let [answers, made] = [0, 0];
    const acknowledgements = acknowledging(
      (tags) => {
        sent.push(tags.slice(0, 2));
        return { left: tags.slice(2), arrived: turn().then(() => void answers++) };
      },
      async () => void made++,
    );
    await acknowledgements.add([1, 2, 3, 4, 5]);
    expect([sent, answers, made]).toEqual([[[1, 2], [3, 4], [5]], 3, 2]);
  });

  it('of which some were not sent before the channel closed are no success', async () => {
    let sent = 0;
    const acknowledgements = acknowledging((tags) => {
      sent += 1;
      if (sent > 1) throw new Error('channel closed');
      return { left: tags.slice(1), arrived: turn() };
    });
    await expect(acknowledgements.add([1, 2])).rejects.toThrow('channel closed');
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
    const gathering = arrivals.gather(5, 2);
    arrivals.add(message(1));
    arrivals.add(message(2));
    expect([tagsOf(await gathering), told]).toEqual([[1, 2], 0]);
    arrivals.add(message(3));
    await turns(4);
    expect([told, arrivals.count]).toEqual([1, 1]);
    expect(tagsOf(await arrivals.gather(5, 1))).toEqual([3]);
  });

  it('of one moment go to all who gather, in their order and some turns apart', async () => {
    const arrivals = new Arrivals(() => undefined);
    const gatherings = [arrivals.gather(3, 6), arrivals.gather(3, 6)];
    for (let tag = 1; tag <= 6; tag += 1) arrivals.add(message(tag));
    await turn();
    expect(arrivals.count).toBe(3);
    // Few enough that no timer has had a chance yet.
    await turns(4);
    expect(arrivals.count).toBe(0);
    expect((await Promise.all(gatherings)).map(tagsOf)).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
  });

  it('are not waited for by one who gathers what is coming for another', async () => {
    const arrivals = new Arrivals(() => undefined);
    const first = arrivals.gather(4, 4);
    expect(await arrivals.gather(4, 4)).toEqual([]);
    for (const tag of [1, 2, 3, 4]) arrivals.add(message(tag));
    expect(tagsOf(await first)).toEqual([1, 2, 3, 4]);
  });

  it('that are there already are handed out apart too', async () => {
    const arrivals = new Arrivals(() => undefined);
    for (const tag of [1, 2, 3, 4]) arrivals.add(message(tag));
    const [first, second] = [arrivals.gather(2, 4), arrivals.gather(2, 2)];
    expect(arrivals.count).toBe(2);
    expect([tagsOf(await first), tagsOf(await second)]).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it('that do not come are waited for only a moment', async () => {
    const arrivals = new Arrivals(() => undefined);
    expect(await arrivals.gather(10, 10)).toEqual([]);
    arrivals.add(message(1));
    expect(tagsOf(await arrivals.gather(100, 100))).toEqual([1]);
  });

  it('that were put back come first', async () => {
    const arrivals = new Arrivals(() => undefined);
    for (const tag of [1, 2, 3]) arrivals.add(message(tag));
    arrivals.putBack(arrivals.take(2));
    expect(tagsOf(arrivals.take(9))).toEqual([1, 2, 3]);
  });
});
