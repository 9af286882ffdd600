import { LEVELS, routeFor, waitOf } from '../src/ladder.ts';
import { namesOf } from '../src/names.ts';
import { withChannel } from './raw-channel.ts';

/** As if time had passed for the scheduled jobs of one queue: each enters the ladder anew, with what is left of its delay. */
export async function elapse(url: string, queue: string, ms: number): Promise<void> {
  const names = namesOf('surety');
  // Levels are made from below: the first that is missing is the end.
  for (let level = 0; level < LEVELS; level++) {
    const name = names.delay(queue, level);
    const isThere = await withChannel(url, (channel) => moveAll(channel, name)).catch(() => false);
    if (!isThere) return;
  }

  async function moveAll(
    channel: Parameters<Parameters<typeof withChannel>[1]>[0],
    name: string,
  ): Promise<boolean> {
    const { messageCount } = await channel.checkQueue(name);
    const level = Number(name.slice(name.lastIndexOf('.') + 1));
    for (let n = 0; n < messageCount; n++) {
      const message = await channel.get(name);
      if (message === false) break;
      const key = message.fields.routingKey;
      const below = key.split('.').slice(-level);
      const rest = level === 0 ? 0 : Number.parseInt(below.join(''), 2) * waitOf(0);
      const route = routeFor(waitOf(level) + rest - ms);
      const { messageId, type, headers } = message.properties;
      const options = {
        persistent: true,
        mandatory: true,
        messageId,
        type,
        headers: { surety: headers?.['surety'] },
      };
      if (route === null) channel.sendToQueue(names.ready(queue), message.content, options);
      else channel.publish(names.delay(queue, route.level), route.key, message.content, options);
      await channel.waitForConfirms();
      channel.ack(message);
    }
    await channel.checkQueue(name);
    return true;
  }
}
