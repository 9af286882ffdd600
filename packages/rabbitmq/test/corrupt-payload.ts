import { namesOf } from '../src/names.ts';
import { withChannel } from './raw-channel.ts';

/** Replaces the body of a ready job by text that is not JSON, as a foreign producer could write it. */
export async function corruptPayload(url: string, queue: string, id: string): Promise<'written'> {
  const ready = namesOf('surety').ready(queue);
  await withChannel(url, async (channel) => {
    // Those before it are kept until it was found, and go back with the end of the channel.
    for (;;) {
      const message = await channel.get(ready);
      if (message === false) throw new Error(`no job ${id} in ${ready}`);
      const header: unknown = message.properties.headers?.['surety'];
      if (!String(header).includes(id)) continue;
      const { messageId, type } = message.properties;
      channel.sendToQueue(ready, Buffer.from('{"cut off'), {
        persistent: true,
        messageId,
        type,
        headers: { surety: header },
      });
      await channel.waitForConfirms();
      channel.ack(message);
      // The answer says that the acknowledgement before it has arrived.
      await channel.checkQueue(ready);
      return;
    }
  });
  return 'written';
}
