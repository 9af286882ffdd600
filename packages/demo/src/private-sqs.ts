import { startSqs } from '@surety/testbed';

/** An emulator of its own. Only in the repository, which can start servers. */
export async function startPrivateSqs(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = await startSqs();
  return {
    url: `sqs:${server.region}?endpoint=${server.endpoint}`,
    [Symbol.asyncDispose]: () => server.destroy(),
  };
}
