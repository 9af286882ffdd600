import { isSuretyError } from '@surety/core/errors';
import type { DiagnoseOptions, Finding, StoreAddress } from '@surety/core/operator';
import type { Client } from '../client.ts';
import { resolveOptions } from '../options.ts';
import { optionsOf } from './address.ts';
import { checkClock } from './check-clock.ts';
import { checkKeys, checkTrials } from './check-keys.ts';
import { checkMemory } from './check-memory.ts';
import { checkPersistence } from './check-persistence.ts';
import { checkServer } from './check-server.ts';
import { problem } from './findings.ts';
import { lookAt } from './look.ts';
import { type Visit, visit } from './visit.ts';

/** Every check on its own: one that fails is a finding, and the others go on. */
export function diagnose(address: StoreAddress, { timeoutMs }: DiagnoseOptions): Promise<readonly Finding[]> {
  const { isCluster } = resolveOptions(optionsOf(address));
  return visit(address, 'diagnose', timeoutMs, async (guest) => {
    const findings: Finding[] = [];
    for (const server of guest.servers) {
      const found = await tried('server', () => checkOne(server, guest, isCluster));
      findings.push(...found);
    }
    findings.push(...(await tried('schema', () => checkKeys(guest))));
    findings.push(...(await tried('trials', () => checkTrials(guest))));
    return findings;
  });
}

async function checkOne(
  server: Client,
  { call, servers }: Visit,
  isCluster: boolean,
): Promise<readonly Finding[]> {
  const look = await lookAt(server, call);
  const found = [
    ...checkServer(look, isCluster),
    ...checkPersistence(look),
    ...checkMemory(look),
    ...(await tried('clock', () => checkClock(look))),
  ];
  if (servers.length === 1) return found;
  const node = `node ${look.info?.get('tcp_port') ?? servers.indexOf(server) + 1}: `;
  return found.map((finding) => ({ ...finding, what: `${node}${finding.what}` }));
}

async function tried(check: string, run: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await run();
  } catch (error) {
    if (!isSuretyError(error)) throw error;
    const { message, remedy } = error;
    return [problem(check, message.slice(0, message.length - remedy.length).trim(), remedy)];
  }
}
