import { randomBytes } from 'node:crypto';
import { freePort } from '../machine/free-port.ts';
import type { BrokerPlace } from './broker-folder.ts';

/** What the nodes of a cluster share. */
export interface Secrets {
  readonly epmdPort: number | null;
  readonly password: string;
  readonly cookie: string;
}

export function newSecrets(): Secrets {
  return {
    epmdPort: null,
    password: randomBytes(8).toString('hex'),
    cookie: randomBytes(16).toString('hex'),
  };
}

/** Ports that are free, and a node name that nobody else has. */
export async function freePlace(secrets: Secrets): Promise<BrokerPlace> {
  return {
    nodeName: `surety-${randomBytes(4).toString('hex')}@localhost`,
    port: await freePort(),
    distributionPort: await freePort(),
    epmdPort: secrets.epmdPort ?? (await freePort()),
    user: 'surety',
    password: secrets.password,
    cookie: secrets.cookie,
  };
}
