import { startRabbitmq } from '@surety/testbed';
import { makeSchema, storeAt } from './stores.ts';

/** A broker of its own with what all queues of Surety share. Only in the repository, which can start servers. */
export async function startPrivateRabbitmq(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = await startRabbitmq();
  await makeSchema(storeAt({ url: server.url, namespace: null }));
  return server;
}
