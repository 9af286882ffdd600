import { type Channel, type ConfirmChannel, connect } from 'amqplib';

/** A plain connection beside the adapter, as another program has it. */
export async function withChannel<T>(url: string, use: (channel: ConfirmChannel) => Promise<T>): Promise<T> {
  const connection = await connect(url, { noDelay: true });
  connection.on('error', () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    return await use(channel);
  } finally {
    await connection.close().catch(() => undefined);
  }
}

/** How many messages a queue holds; null: there is none of that name. */
export async function lengthOf(channel: Channel, name: string): Promise<number> {
  return (await channel.checkQueue(name)).messageCount;
}
