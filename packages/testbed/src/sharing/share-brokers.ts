import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startWatchdog } from '../machine/watchdog.ts';

/** Starts a broker when somebody first asks for it; what it resolves with goes to the asker as JSON. */
export type StartBroker = () => Promise<unknown>;

export interface SharedBrokers {
  /** Where `askForBroker` finds them. */
  readonly socketPath: string;
  close(): Promise<void>;
}

/**
 * Offers brokers to the test processes that this process starts. A test run that needs none starts none, and one that
 * needs a broker in ten files starts it once. The owner stays this process, so that the broker ends with it.
 */
export async function shareBrokers(starters: Readonly<Record<string, StartBroker>>): Promise<SharedBrokers> {
  const folder = await mkdtemp(join(tmpdir(), 'surety-testbed-'));
  const watchdog = startWatchdog('rm -rf "$1"', [folder]);
  const socketPath = join(folder, 'brokers.sock');
  const started = new Map<string, Promise<unknown>>();

  const brokerNamed = (name: string): Promise<unknown> => {
    const running = started.get(name);
    if (running !== undefined) return running;
    const start = starters[name];
    if (start === undefined) return Promise.reject(new Error(`no shared broker is called ${name}`));
    const starting = start();
    started.set(name, starting);
    return starting;
  };

  const askers = new Set<Socket>();
  const server = createServer((asker) => {
    askers.add(asker);
    // An asker may be killed at any moment: that is what drills do.
    asker.on('error', () => undefined);
    asker.on('close', () => askers.delete(asker));
    createInterface({ input: asker }).on('line', (name) => {
      brokerNamed(name).then(
        (broker) => asker.end(`${JSON.stringify({ broker })}\n`),
        (error: unknown) => asker.end(`${JSON.stringify({ failure: String(error) })}\n`),
      );
    });
  });
  server.listen(socketPath);
  await once(server, 'listening');
  server.unref();

  return {
    socketPath,
    async close() {
      server.close();
      for (const asker of askers) asker.destroy();
      await rm(folder, { recursive: true, force: true });
      watchdog.dismiss();
    },
  };
}
