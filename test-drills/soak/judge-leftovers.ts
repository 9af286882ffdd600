import type { Held } from './leftovers.ts';

/** Rows or elements that a dead letter may take: the job, its errors, its place in the list, an index. */
const PER_DEAD = 5;
/** Queues, settings, records of claims that are kept for a while: they do not grow with the jobs. */
const STANDING = 400;

/** What the server holds beyond its dead letters and what it always holds, in sentences. */
export function unexplained(before: Held, after: Held, dead: number): readonly string[] {
  const grown = Object.entries(after)
    .map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
    .filter(([, more]) => more > 0);
  const total = grown.reduce((sum, [, more]) => sum + more, 0);
  if (total <= dead * PER_DEAD + STANDING) return [];
  const most = grown.sort(([, a], [, b]) => b - a).slice(0, 3);
  const named = most.map(([name, more]) => `${name} ${more}`).join(', ');
  return [`the server holds ${total} things more than before, with ${dead} dead letters: ${named}`];
}
