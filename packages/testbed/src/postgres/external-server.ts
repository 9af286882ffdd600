import { serverVersion } from './databases.ts';
import type { RunningServer } from './server-control.ts';

/** A server that somebody else runs: it is only used, never acted on. */
export async function useExternalServer(url: string): Promise<RunningServer> {
  const version = await serverVersion(url).catch((error: unknown) => {
    throw new Error(`the PostgreSQL server in SURETY_TEST_POSTGRES_URL does not answer`, { cause: error });
  });
  const notOurs = (): Promise<never> =>
    Promise.reject(
      new Error(
        'not possible on the external server in SURETY_TEST_POSTGRES_URL: unset it for a private one',
      ),
    );
  return {
    urls: { url, adminUrl: url },
    version,
    control: {
      kind: 'external',
      can: { restart: false, kill: false, pause: false },
      start: notOurs,
      stop: notOurs,
      kill: notOurs,
      pause: notOurs,
      resume: notOurs,
      remove: () => Promise.resolve(),
    },
  };
}
