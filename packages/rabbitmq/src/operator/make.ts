import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel } from 'amqplib';
import { timedOut } from '../call.ts';
import { replyCode } from '../native-errors.ts';
import { MATURE_MS } from '../topology.ts';
import { answered, onChannel } from '../wire/open-wire.ts';
import type { Parts } from './parts.ts';
import type { Visit } from './visit.ts';

/** All of them are there. */
export async function areThere({ wire, call }: Visit, { queues, exchanges }: Parts): Promise<boolean> {
  try {
    const asking = onChannel(wire, async (channel) => {
      for (const { name } of queues) await channel.checkQueue(name);
      for (const name of exchanges) await channel.checkExchange(name);
    });
    await answered(wire, call, asking);
    return true;
  } catch (native) {
    if (replyCode(native) === 404) return false;
    throw native;
  }
}

/**
 * Makes what is missing of them; what is there otherwise is an error. A queue may be relied on only once it has some age, and the exchanges say that it has: they
 * come after that.
 */
export async function make(visit: Visit, parts: Parts): Promise<void> {
  const isNew = !(await areThere(visit, parts));
  await step(visit, async (channel) => {
    for (const { name, arguments: given } of parts.queues)
      await channel.assertQueue(name, { durable: true, arguments: given });
  });
  if (isNew && parts.queues.length > 0) {
    if (performance.now() + MATURE_MS >= visit.call.deadline) throw timedOut(visit.call);
    await sleep(MATURE_MS);
  }
  await step(visit, async (channel) => {
    for (const name of parts.exchanges) await channel.assertExchange(name, 'fanout', { durable: true });
  });
}

async function step({ wire, call }: Visit, work: (channel: Channel) => Promise<void>): Promise<void> {
  await answered(wire, call, onChannel(wire, work));
}
