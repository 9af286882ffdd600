import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfirmChannel } from 'amqplib';
import { noteOfDelays } from '../src/claims/pauses.ts';
import { readStay, stayHeader } from '../src/delays/stay-header.ts';
import { LEVELS } from '../src/ladder.ts';
import { idOf } from '../src/message-body.ts';
import { namesOf } from '../src/names.ts';
import { withChannel } from './raw-channel.ts';

/** A process that looks at a level holds what is at its head for a moment: it is looked for again. */
const PASSES = 20;
const PAUSE_MS = 50;

/** As if time had passed for the scheduled jobs of one queue: each leaves its level, and is due, so much earlier. */
export async function elapse(url: string, queue: string, ms: number): Promise<void> {
  const names = namesOf('surety');
  const shifted = new Set<string>();
  for (let pass = 0; pass < PASSES; pass++) {
    const before = shifted.size;
    await withChannel(url, async (channel) => {
      // Levels are made from below: the first that is missing is the end, and closes the channel.
      for (let level = 0; level < LEVELS; level++)
        await shiftAll(channel, names.delay(queue, level), level, ms, shifted);
    }).catch(() => undefined);
    if (shifted.size === before && before > 0) break;
    await sleep(PAUSE_MS);
  }
  await withChannel(url, async (channel) => {
    channel.publish(names.control, '', noteOfDelays(queue));
    await channel.waitForConfirms();
  });
}

async function shiftAll(
  channel: ConfirmChannel,
  name: string,
  level: number,
  ms: number,
  shifted: Set<string>,
): Promise<void> {
  const { messageCount } = await channel.checkQueue(name);
  for (let n = 0; n < messageCount; n++) {
    const message = await channel.get(name);
    if (message === false) break;
    const id = idOf(message);
    if (shifted.has(id)) {
      channel.nack(message);
      continue;
    }
    shifted.add(id);
    const { messageId } = message.properties;
    const { leavesAt, dueAt } = readStay(message);
    const stay = { level, leavesAt: Math.max(0, leavesAt - ms), dueAt: Math.max(0, dueAt - ms) };
    channel.sendToQueue(name, message.content, {
      persistent: true,
      mandatory: true,
      messageId,
      headers: stayHeader(stay),
    });
    await channel.waitForConfirms();
    channel.ack(message);
  }
  await channel.checkQueue(name);
}
