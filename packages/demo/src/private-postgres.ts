import { startPostgres } from '@surety/testbed';
import { makeSchema, storeAt } from './stores.ts';

/** A server of its own with an empty database and Surety's schema. Only in the repository, which can start servers. */
export async function startPrivatePostgres(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = await startPostgres();
  const url = await server.createDatabase();
  await makeSchema(storeAt({ url, namespace: null }));
  return { url, [Symbol.asyncDispose]: () => server.destroy() };
}
