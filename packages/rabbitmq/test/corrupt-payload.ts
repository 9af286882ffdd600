import { namesOf } from '../src/names.ts';
import { withChannel } from './raw-channel.ts';

/** Replaces the payload of a ready job by text that is not JSON, as a foreign producer could write it. */
export async function corruptPayload(url: string, queue: string, id: string): Promise<'written'> {
  const ready = namesOf('surety').ready(queue);
  await withChannel(url, async (channel) => {
    // Those before it are kept until it was found, and go back with the end of the channel.
    for (;;) {
      const message = await channel.get(ready);
      if (message === false) throw new Error(`no job ${id} in ${ready}`);
      const envelope = message.content.subarray(0, message.content.indexOf('\n') + 1);
      if (!envelope.includes(id)) continue;
      const { messageId } = message.properties;
      channel.sendToQueue(ready, Buffer.concat([envelope, Buffer.from('{"cut off]')]), {
        persistent: true,
        messageId,
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
