import type { Case } from '../case.ts';
import { CASES } from '../catalogue.ts';
import type { Harness } from '../harness.ts';
import { runCase } from '../run/run-case.ts';
import { reasonNotToRun } from '../run/verdict.ts';
import type { SabotagedArgs } from './connect.ts';
import type { Saboteur } from './saboteur.ts';

/** Whether a bug was caught by one of its cases. */
export interface Catch {
  readonly saboteur: string;
  readonly caseId: string;
  readonly caught: boolean;
  /** How the case failed on the bug, or why this proves nothing. */
  readonly reason: string;
}

/** What to run, and how a harness is made; each case gets one of its own, so that bugs do not meet. */
export interface SaboteurRun {
  readonly saboteurs: readonly Saboteur[];
  readonly makeHarness: (name: Saboteur['over']) => Promise<Harness>;
  readonly onCatch?: (caught: Catch) => void;
}

/** Cases at once: they mostly wait for what a bug has made impossible. */
const PARALLEL = 6;
const SEED = 20_260_101;

/** Runs every saboteur with its cases; first each case without a bug, which must pass. */
export async function runSaboteurs(run: SaboteurRun): Promise<readonly Catch[]> {
  const sound = new Map<string, Promise<string | null>>();
  const tasks = run.saboteurs.flatMap((saboteur) =>
    saboteur.mustFail.map((caseId) => ({ saboteur, caseId })),
  );
  const catches: Catch[] = [];
  const serve = async (): Promise<void> => {
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) {
      const { saboteur, caseId } = task;
      const key = `${saboteur.over} ${caseId}`;
      const before = sound.get(key) ?? ask(run, saboteur.over, caseId, null);
      sound.set(key, before);
      const broken = await before;
      const failure = broken === null ? await ask(run, saboteur.over, caseId, saboteur) : null;
      const reason = broken === null ? (failure ?? 'the case passed') : `fails without the bug: ${broken}`;
      const caught = { saboteur: saboteur.id, caseId, caught: failure !== null, reason };
      catches.push(caught);
      run.onCatch?.(caught);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, serve));
  return catches;
}

/** The failure of a case, null when it passed. */
async function ask(
  run: SaboteurRun,
  over: Saboteur['over'],
  caseId: string,
  saboteur: Saboteur | null,
): Promise<string | null> {
  const subject = CASES.find(({ id }) => id === caseId);
  if (subject === undefined) throw new Error(`Saboteur names no case: ${caseId}.`);
  const plain = await run.makeHarness(over);
  await plain.prepare();
  try {
    const harness = saboteur === null ? plain : sabotaged(plain, saboteur);
    assertRuns(subject, harness);
    return (await runCase(subject, harness, SEED, saboteur?.plant())).failure;
  } finally {
    await plain.destroy();
  }
}

function assertRuns(subject: Case, harness: Harness): void {
  const idle = reasonNotToRun(subject, harness.backend().capabilities, harness);
  if (idle !== null) throw new Error(`${subject.id} does not run here: ${idle.reason}.`);
}

/** The same harness, whose children plant the bug too. */
function sabotaged(harness: Harness, saboteur: Saboteur): Harness {
  const { child } = harness;
  if (child === undefined) return harness;
  const args = (): SabotagedArgs => ({ module: child.module, args: child.args(), saboteur: saboteur.id });
  const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  const module = new URL(`./connect${ending}`, import.meta.url).href;
  return new Proxy(harness, {
    get: (target, key) => (key === 'child' ? { module, args } : Reflect.get(target, key, target)),
  });
}
