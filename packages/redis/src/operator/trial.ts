import { randomBytes } from 'node:crypto';
import type { Backend } from '@surety/core/contract';
import type { StoreAddress, Trial } from '@surety/core/operator';
import type { Client } from '../client.ts';
import type { Call } from '../deadline.ts';
import { redis } from '../index.ts';
import { allowed, parseInfo } from '../operations/read-server.ts';
import { optionsOf } from './address.ts';
import { askServer } from './ask-server.ts';
import { productOf } from './check-server.ts';
import { clientVersion } from './client-version.ts';
import { visit } from './visit.ts';

/** Nobody listens on port 1, and asking needs no rights. */
const NOBODY = 'redis://127.0.0.1:1';
const REMOVE_WITHIN_MS = 60_000;
const SCAN_STEP = 1000;

/** The prefixes of trials that have not ended. */
export function trialsKey(prefix: string): string {
  return `${prefix}:trials`;
}

/** Keys of its own on the same server, below the prefix of the address: rights to `prefix:*` do for it. */
export async function openTrial(address: StoreAddress, timeoutMs: number): Promise<Trial> {
  const { prefix, version, own } = await visit(address, 'trial', timeoutMs, async (guest) => {
    const trial = `${guest.prefix.slice(0, 48)}:verify-${randomBytes(4).toString('hex')}`;
    await guest.connection.command(guest.call, 'SADD', trialsKey(guest.prefix), trial);
    return { prefix: trial, own: guest.prefix, version: await versionOf(guest.servers, guest.call) };
  });
  const options = { ...optionsOf(address), prefix };
  const made: Backend[] = [];
  const make = (connection: typeof options.connection): Backend => {
    const backend = redis({ ...options, ...(connection === undefined ? {} : { connection }) });
    made.push(backend);
    return backend;
  };
  const nobody = Array.isArray(options.connection) ? [NOBODY] : NOBODY;
  return {
    where: `the keys ${prefix}:*`,
    serverless: false,
    versions: { server: version, client: `ioredis ${clientVersion()}` },
    backend: () => make(options.connection),
    unreachable: () => make(nobody),
    connect: { module: trialModule(), args: options },
    [Symbol.asyncDispose]: async () => {
      // Called off in the middle, somebody here may still be writing.
      await Promise.all(made.map((backend) => backend.close({ graceMs: 0 })));
      await visit(address, 'trial', REMOVE_WITHIN_MS, async ({ servers, connection, call }) => {
        for (const server of servers) await remove(server, `${prefix}:*`, call);
        await connection.command(call, 'SREM', trialsKey(own), prefix);
      });
    },
  };
}

async function versionOf(servers: readonly Client[], call: Call): Promise<string> {
  const [server] = servers;
  const text = server === undefined ? null : await allowed(server.info(), call);
  const product = text === null ? 'unknown, INFO is not allowed' : productOf(parseInfo(text));
  return servers.length > 1 ? `${product}, ${servers.length} nodes` : product;
}

/** In steps that stop nobody; once more from the start until nothing is found. Throws when the time of the call is over. */
async function remove(server: Client, pattern: string, call: Call): Promise<void> {
  for (let found = -1; found !== 0; ) {
    found = 0;
    let cursor = '0';
    do {
      const answer = await askServer(server, call, 'SCAN', cursor, 'MATCH', pattern, 'COUNT', SCAN_STEP);
      const [next, keys] = answer as readonly [string, readonly string[]];
      // One by one: in a cluster they are in many slots.
      await Promise.all(keys.map((key) => askServer(server, call, 'UNLINK', key)));
      found += keys.length;
      cursor = String(next);
    } while (cursor !== '0');
  }
}

/** Keeps the ending of this module: `.ts` from source, `.js` when built. */
function trialModule(): string {
  return new URL(`./connect${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href;
}
