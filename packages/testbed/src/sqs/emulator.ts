/** Program of the emulator's process. Started by `startSqs`, with port and folder as arguments. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveChild } from '../child/child-serve.ts';
import { loadEmulator, type StoredMessage, type StoredQueue } from './emulator-store.ts';
import { FaultLayer } from './fault-layer.ts';
import type { SqsFaults } from './sqs-server.ts';

const [port = '0', folder = ''] = process.argv.slice(2);
const emulator = await loadEmulator(folder === '' ? null : folder);
const layer = new FaultLayer(emulator);
const server = createServer(
  { keepAliveTimeout: 60_000 },
  (request, response) => void serve(request, response),
);
server.listen(Number(port), '127.0.0.1');
await once(server, 'listening');

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = await text(request);
    const headers = Object.fromEntries(
      Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value]] : [],
      ),
    );
    const reply = await layer.handle(headers, body);
    if (reply === null) return void request.socket.destroy();
    response.writeHead(reply.status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(reply.body);
  } catch {
    // The client has gone, or sent what is no request.
    request.socket.destroy();
  }
}

/** Somebody who moves delayed messages holds them for no longer than this. */
const MOVING_MS = 65_000;

async function untouched(queue: StoredQueue): Promise<void> {
  for (let tries = 0; tries < 250; tries++) {
    const now = Date.now();
    const moving = [...queue.inflightMessages.values()].some(
      ({ visibilityDeadline }) => visibilityDeadline > now && visibilityDeadline < now + MOVING_MS,
    );
    if (!moving) return;
    await sleep(20);
  }
}

interface Elapsed {
  readonly ms: number;
  readonly expires: boolean;
}

/** Makes a message older. False: it is gone, past the retention of its queue. */
function age(
  queue: StoredQueue,
  message: StoredMessage,
  { ms, expires }: Elapsed,
  deadline: number | null = null,
): boolean {
  message.sentTimestamp -= ms;
  if (message.delayUntil !== undefined) message.delayUntil -= ms;
  if (message.approximateFirstReceiveTimestamp !== undefined) message.approximateFirstReceiveTimestamp -= ms;
  const isKept =
    !expires ||
    Date.now() - message.sentTimestamp <= Number(queue.attributes['MessageRetentionPeriod']) * 1000;
  if (isKept) queue.persistence?.updateTimes(message, deadline);
  else queue.persistence?.deleteMessage(message.messageId);
  return isKept;
}

serveChild({
  version: () => emulator.version,
  setFaults: (faults: Partial<SqsFaults>) => layer.set(faults),
  faultLog: () => layer.log,
  requestCounts: () => layer.takeRequestCounts(),
  cutConnections: () => server.closeAllConnections(),
  async elapse({ all, delayed, ...elapsed }: Elapsed & { all: string[]; delayed: string[] }) {
    for (const name of all) {
      const queue = emulator.store.getQueueByName(name);
      if (queue === undefined) continue;
      await untouched(queue);
      queue.messages = queue.messages.filter((message) => age(queue, message, elapsed));
      queue.delayedMessages = queue.delayedMessages.filter((message) => age(queue, message, elapsed));
      for (const [handle, held] of queue.inflightMessages) {
        held.visibilityDeadline -= elapsed.ms;
        if (!age(queue, held.message, elapsed, held.visibilityDeadline))
          queue.inflightMessages.delete(handle);
      }
    }
    for (const name of delayed) {
      const queue = emulator.store.getQueueByName(name);
      if (queue === undefined) continue;
      queue.delayedMessages = queue.delayedMessages.filter((message) => age(queue, message, elapsed));
    }
  },
  edit({ queue, part, from, to }: { queue: string; part: string; from: string; to: string }) {
    const message = emulator.store.getQueueByName(queue)?.messages.find(({ body }) => body.includes(part));
    if (message === undefined) return false;
    message.body = message.body.replace(from, () => to);
    message.md5OfBody = createHash('md5').update(message.body).digest('hex');
    return true;
  },
});
