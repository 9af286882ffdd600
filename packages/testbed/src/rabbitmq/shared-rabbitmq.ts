import { askForBroker } from '../sharing/ask-for-broker.ts';
import type { RabbitmqAccess } from './rabbitmq-server.ts';
import { startRabbitmq } from './start-rabbitmq.ts';

let access: Promise<RabbitmqAccess> | undefined;

/**
 * The broker that all test files of a run share: keep apart by names of your own. It cannot be stopped or killed from here,
 * since others use it: for that, start one of your own. Without `vitest-global-setup.ts` every process gets one of its own.
 */
export function sharedRabbitmq(): Promise<RabbitmqAccess> {
  access ??= openShared();
  return access;
}

async function openShared(): Promise<RabbitmqAccess> {
  const socketPath = process.env['SURETY_TESTBED_SOCKET'];
  if (socketPath === undefined) return startRabbitmq();
  return (await askForBroker(socketPath, 'rabbitmq')) as RabbitmqAccess;
}
