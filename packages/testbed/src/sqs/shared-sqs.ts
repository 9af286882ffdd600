import { askForBroker } from '../sharing/ask-for-broker.ts';
import type { SqsAccess } from './sqs-server.ts';
import { startSqs } from './start-sqs.ts';

let access: Promise<SqsAccess> | undefined;

/**
 * The emulator that all test files of a run share: keep to a prefix of your own. It cannot be stopped or killed from here, since
 * others use it: for that, start one of your own. Without `vitest-global-setup.ts` every process gets one of its own.
 */
export function sharedSqs(): Promise<SqsAccess> {
  access ??= openShared();
  return access;
}

async function openShared(): Promise<SqsAccess> {
  const socketPath = process.env['SURETY_TESTBED_SOCKET'];
  if (socketPath === undefined) return startSqs();
  return (await askForBroker(socketPath, 'sqs')) as SqsAccess;
}
