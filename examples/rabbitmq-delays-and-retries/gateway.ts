import { setTimeout as sleep } from 'node:timers/promises';

const isDown = new Map<string, number>();

/** A card terminal as they are: `flaky-…` fails twice, `slow-…` takes as long as `SLOW_MS` says. */
export async function payWithCard(account: string, key: string, signal: AbortSignal): Promise<void> {
  if (account.startsWith('slow-'))
    await sleep(Number(process.env['SLOW_MS'] ?? 60_000), undefined, { signal });
  const failures = isDown.get(key) ?? 0;
  if (!account.startsWith('flaky-') || failures === 2) return;
  isDown.set(key, failures + 1);
  throw new Error('the terminal does not answer');
}
