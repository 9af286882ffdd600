import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/** The answer of the process that owns the shared brokers; the broker is started first if nobody asked before. */
export async function askForBroker(socketPath: string, name: string): Promise<unknown> {
  const owner = connect(socketPath);
  owner.write(`${name}\n`);
  const reply = await text(owner);
  if (reply === '') throw new Error(`the owner of the shared ${name} broker closed without an answer`);
  const answer = JSON.parse(reply) as { broker?: unknown; failure?: string };
  if (answer.failure !== undefined)
    throw new Error(`the shared ${name} broker did not start: ${answer.failure}`);
  return answer.broker;
}
