import { startRedis } from '@surety/testbed';

/** An empty server of its own. Only in the repository, which can start servers. */
export function startPrivateRedis(): Promise<AsyncDisposable & { readonly url: string }> {
  return startRedis();
}
