import { randomInt } from 'node:crypto';
import type { Drill } from './drill.ts';
import type { Place } from './place.ts';
import { type Output, progressOn } from './progress.ts';
import { rehearse } from './rehearsal.ts';
import { reasonNotToRun, runDrill } from './run-drill.ts';
import { reportLines, writeReport } from './write-report.ts';

/** Drills to run at one place, one after the other. */
export interface DrillsRun {
  readonly drills: readonly Drill[];
  readonly place: Place;
  /** Null: one by chance. It is printed, and the same one repeats the run. */
  readonly seed: number | null;
  readonly quick: boolean;
  readonly realTime: boolean;
  /** Where reports go. */
  readonly reports: string;
  readonly output: Output;
  readonly signal: AbortSignal;
}

/** What the runs came to. `impossible`: drills that the place cannot do, with reasons. */
export interface DrillsResult {
  readonly held: number;
  readonly broken: number;
  readonly impossible: readonly string[];
}

const MAX_SEED = 2 ** 31 - 1;

/** Runs them, prints and writes what each came to. Throws what the signal aborts with, and where the store refuses a plain job what it says. */
export async function runDrills(run: DrillsRun): Promise<DrillsResult> {
  const { place, output } = run;
  const seed = run.seed ?? randomInt(1, MAX_SEED);
  const result = { held: 0, broken: 0, impossible: [] as string[] };
  await rehearse(place, run.signal);
  for (const drill of run.drills) {
    const progress = progressOn(output, `${drill.name} ${place.backend}`);
    const reason = reasonNotToRun(drill, place);
    if (reason !== null) {
      result.impossible.push(reason);
      progress.print(`${drill.name} on ${place.backend}: not run: ${reason}`);
      continue;
    }
    progress.print(`${drill.name} on ${place.backend}, seed ${seed}: ${drill.summary}`);
    const report = await runDrill(drill, { ...run, seed, progress });
    progress.print(...reportLines(report), `  report: ${await writeReport(report, run.reports)}`);
    if (report.verdict === 'held') result.held += 1;
    else result.broken += 1;
  }
  return result;
}

/** 0: all held. 1: one did not. 2: nothing was run. */
export function exitCodeOf({ held, broken }: DrillsResult): 0 | 1 | 2 {
  if (broken > 0) return 1;
  return held > 0 ? 0 : 2;
}
