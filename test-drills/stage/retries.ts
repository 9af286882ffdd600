import { readFile } from 'node:fs/promises';
import type { TraceLine } from '@surety/core/trace';

/** One failed attempt, as a worker wrote it down. Times by the clock that all processes of the machine share. */
interface Retry {
  readonly id: string;
  readonly attempt: number;
  /** As computed by core, jitter included. */
  readonly delayMs: number;
  /** When the store was told; the delay cannot begin before. */
  readonly at: number;
}

/** One start of a handler. */
interface Start {
  readonly id: string;
  readonly attempt: number;
  readonly at: number;
}

/** Every failure and every start, in the order of time. */
export interface Runs {
  readonly retries: readonly Retry[];
  readonly starts: readonly Start[];
}

/** Reads the histories of workers. A settlement that was sent again counts once, with its first sending. */
export async function readRuns(files: readonly string[]): Promise<Runs> {
  const retries: Retry[] = [];
  const starts: Start[] = [];
  for (const file of files) {
    const attempts = new Map<string, number>();
    const seen = new Set<string>();
    for (const line of (await readFile(file, 'utf8')).split('\n').flatMap(parsed)) {
      if (line.kind === 'claimed' && 'leases' in line)
        for (const { lease, attempt } of line.leases) attempts.set(`${line.process} ${lease}`, attempt);
      if (line.kind === 'start') {
        const attempt = attempts.get(`${line.process} ${line.lease}`) ?? 0;
        starts.push({ id: line.id, attempt, at: line.at });
      }
      if (line.kind !== 'settle') continue;
      for (const { lease, id, do: does, delayMs = 0 } of line.settlements) {
        const key = `${line.process} ${lease}`;
        if (does !== 'retry' || seen.has(key)) continue;
        seen.add(key);
        retries.push({ id, attempt: attempts.get(key) ?? 0, delayMs, at: line.at });
      }
    }
  }
  const byTime = (a: { readonly at: number }, b: { readonly at: number }): number => a.at - b.at;
  return { retries: retries.sort(byTime), starts: starts.sort(byTime) };
}

/** What the rates of the store's clock and ours may differ by, and roundings. */
const DRIFT = 0.002;
const ROUNDING_MS = 20;

/** Starts that came before the delay of the failure before them was over: by how many ms. */
export function earlyStarts({ retries, starts }: Runs): readonly number[] {
  const byJob = Map.groupBy(retries, ({ id }) => id);
  return starts.flatMap(({ id, at }) => {
    const before = (byJob.get(id) ?? []).findLast((retry) => retry.at <= at);
    if (before === undefined) return [];
    const byMs = before.at + before.delayMs * (1 - DRIFT) - ROUNDING_MS - at;
    return byMs > 0 ? [byMs] : [];
  });
}

/** A line that a kill has torn is no line. */
function parsed(line: string): readonly TraceLine[] {
  if (line === '') return [];
  try {
    return [JSON.parse(line) as TraceLine];
  } catch {
    return [];
  }
}
