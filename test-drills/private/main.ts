/** `npm run drill`: drills on servers that this repository starts. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { exitCodeOf, runDrills } from '../stage/run-drills.ts';
import { type Arguments, parseArguments } from './parse-arguments.ts';
import { privatePlace } from './places.ts';

const REPORTS = join(import.meta.dirname, '../../reports/drills');
const MAX_SEED = 2 ** 31 - 1;

const interrupted = new AbortController();
// The first one cleans up; a second one finds no listener and ends the process as it always would.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interrupted.abort(new Error(`interrupted by ${signal}; cleaned up`)));

process.exitCode = await main(parseArguments(process.argv.slice(2)));

async function main(given: Arguments): Promise<number> {
  if (given.kind !== 'run') {
    (given.kind === 'help' ? console.log : console.error)(given.text);
    return given.kind === 'help' ? 0 : 2;
  }
  const seed = given.seed ?? randomInt(1, MAX_SEED);
  const lines: string[] = [];
  let code = 2;
  for (const backend of given.backends) {
    try {
      await using place = await privatePlace(backend, seed);
      console.log(`\n${place.where}`);
      const result = await runDrills({
        ...given,
        place,
        seed,
        reports: REPORTS,
        output: process.stdout,
        signal: interrupted.signal,
      });
      const idle = result.impossible.length === 0 ? '' : `, ${result.impossible.length} not possible here`;
      lines.push(`${backend}: ${result.held} held, ${result.broken} broken${idle}`);
      code = worse(code, exitCodeOf(result));
    } catch (error) {
      console.error(`${backend}: ${error instanceof Error ? error.message : String(error)}`);
      return interrupted.signal.aborted ? 130 : 1;
    }
  }
  console.log(`\n${lines.join('\n')}\nseed ${seed}`);
  return code;
}

/** 1 over 0 over 2: a drill that did not hold counts most, and one that ran counts more than one that could not. */
function worse(one: number, other: number): number {
  if (one === 1 || other === 1) return 1;
  return Math.min(one, other);
}
