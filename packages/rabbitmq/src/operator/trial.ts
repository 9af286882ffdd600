import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend } from '@surety/core/contract';
import type { Finding, StoreAddress, Trial } from '@surety/core/operator';
import type { Channel } from 'amqplib';
import { rabbitmq } from '../index.ts';
import { type Names, namesOf } from '../names.ts';
import { answered, onChannel } from '../wire/open-wire.ts';
import { placeOf } from './address.ts';
import { clientVersion } from './client-version.ts';
import { connect } from './connect.ts';
import { note, ok } from './findings.ts';
import { partsOf } from './parts.ts';
import { notedIn } from './trial-queues.ts';
import { exists, type Visit, visit } from './visit.ts';

/** Nobody listens on port 1, and asking needs no rights. */
const NOBODY = 'amqp://nobody:nobody@127.0.0.1:1';
const REMOVE_WITHIN_MS = 120_000;
/** Channels that delete at the same time. */
const HANDS = 8;

/** A queue of the broker with the prefixes of trials that have not ended. Not there where there never was one, or all have ended. */
function trialsQueue(names: Names): string {
  return `${names.control}.trials`;
}

/** Queues of its own in the same virtual host, under a longer prefix: rights to all that begins like the prefix do for it. */
export async function openTrial(address: StoreAddress, timeoutMs: number): Promise<Trial> {
  const place = placeOf(address);
  const prefix = `${place.resolved.prefix.slice(0, 24)}-verify-${randomBytes(4).toString('hex')}`;
  const version = await visit(place, 'trial', { timeoutMs }, async (guest) => {
    await register(guest, prefix);
    return guest.wire.version;
  });
  const folder = mkdtempSync(join(tmpdir(), `${prefix}-`));
  const file = join(folder, 'queues');
  writeFileSync(file, '');
  const options = { ...place.options, prefix };
  const made: Backend[] = [];
  return {
    where: `the queues ${prefix}.*`,
    serverless: false,
    versions: { server: `RabbitMQ ${version}`, client: `amqplib ${clientVersion()}` },
    backend: () => {
      const backend = connect({ options, file });
      made.push(backend);
      return backend;
    },
    unreachable: () => rabbitmq({ ...options, url: NOBODY }),
    connect: { module: trialModule(), args: { options, file } },
    [Symbol.asyncDispose]: async () => {
      // Called off in the middle, somebody here may still be making queues.
      await Promise.all(made.map((backend) => backend.close({ graceMs: 0 })));
      await visit(place, 'trial', { timeoutMs: REMOVE_WITHIN_MS }, async (guest) => {
        await removeAll(guest, namesOf(prefix), notedIn(file));
        await deregister(guest, prefix);
      });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What verifications have left. */
export async function checkTrials(guest: Visit): Promise<readonly Finding[]> {
  const nothing = ok('trials', 'nothing is left of `surety verify`');
  if (!(await exists(guest, 'queue', trialsQueue(guest.names)))) return [nothing];
  const left: string[] = [];
  await onTrials(guest, async (channel, name) => {
    for (let message = await channel.get(name); message !== false; message = await channel.get(name))
      left.push(message.content.toString('utf8'));
    // They go back as the channel closes.
  });
  if (left.length === 0) return [nothing];
  const what = `left by a \`surety verify\` that is running or was killed: ${left.map((each) => `${each}.*`).join(', ')}`;
  const remedy = `When none is running: delete these queues and exchanges, and the queue ${trialsQueue(guest.names)}.`;
  return [note('trials', what, remedy)];
}

async function register(guest: Visit, prefix: string): Promise<void> {
  const name = trialsQueue(guest.names);
  await onTrials(guest, async (channel) => {
    await channel.assertQueue(name, { durable: true, arguments: { 'x-queue-type': 'classic' } });
    channel.sendToQueue(name, Buffer.from(prefix), { persistent: true });
    // Answered after what was sent before it.
    await channel.checkQueue(name);
  });
}

async function deregister(guest: Visit, prefix: string): Promise<void> {
  await onTrials(guest, async (channel, name) => {
    const others = [];
    for (let message = await channel.get(name); message !== false; message = await channel.get(name)) {
      if (message.content.toString('utf8') === prefix) channel.ack(message);
      else others.push(message);
    }
    for (const message of others) channel.nack(message, false, true);
    if (others.length === 0) await channel.deleteQueue(name, { ifEmpty: true });
  });
}

async function onTrials(
  { wire, names, call }: Visit,
  use: (channel: Channel, name: string) => Promise<void>,
): Promise<void> {
  const name = trialsQueue(names);
  await answered(
    wire,
    call,
    onChannel(wire, (channel) => use(channel, name)),
  );
}

/** Deleting what is not there is no error. */
async function removeAll({ wire, call }: Visit, names: Names, queues: readonly string[]): Promise<void> {
  const left = [...queues];
  const work = Array.from({ length: HANDS }, () =>
    onChannel(wire, async (channel) => {
      for (let queue = left.pop(); queue !== undefined; queue = left.pop())
        await removeOne(channel, names, queue);
    }),
  );
  await answered(wire, call, Promise.all(work));
  await answered(
    wire,
    call,
    onChannel(wire, (channel) => channel.deleteExchange(names.control)),
  );
}

async function removeOne(channel: Channel, names: Names, queue: string): Promise<void> {
  const { queues, exchanges } = partsOf(names, queue);
  // What says that the queues may be relied on goes first.
  for (const name of exchanges) await channel.deleteExchange(name);
  for (const { name } of queues.toReversed()) await channel.deleteQueue(name);
  await channel.deleteQueue(names.paused(queue));
}

/** Keeps the ending of this module: `.ts` from source, `.js` when built. */
function trialModule(): string {
  return new URL(`./connect${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href;
}
