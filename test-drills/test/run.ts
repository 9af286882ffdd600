import { DRILLS } from '../drills.ts';
import { BACKENDS, privatePlace } from '../private/places.ts';
import type { Drill, DrillReport } from '../stage/drill.ts';
import type { Connect, Place, Road } from '../stage/place.ts';
import { runDrill } from '../stage/run-drill.ts';

const SEED = 20_260_101;
/** Plants a bug between every process of a drill and the store. */
export type Plant = (connect: Connect) => Connect;

/** A planted bug of the conformance suite. */
export function saboteur(id: string): Plant {
  return (connect) => ({ module: moduleOf('saboteur'), args: { inner: connect, id } });
}

/** A bug that a module in `programs` plants around the backend of another one. */
export function planted(program: string): Plant {
  return (connect) => ({ module: moduleOf(program), args: connect });
}

function moduleOf(program: string): string {
  return new URL(`./programs/${program}.ts`, import.meta.url).href;
}

/** The quick form of a drill on a store of its own. */
export async function quickly(name: string, backend: string, plant?: Plant): Promise<DrillReport> {
  const drill = DRILLS.find((each) => each.name === name);
  if (drill === undefined || !BACKENDS.includes(backend)) throw new Error(`no drill ${name} on ${backend}`);
  await using place = await privatePlace(backend, SEED);
  return await run(drill, plant === undefined ? place : plantedIn(place, plant));
}

/** On every road too. */
function plantedIn(place: Place, plant: Plant): Place {
  const { road: open } = place;
  const road =
    open === null
      ? null
      : async (): Promise<Road> => {
          const straight = await open();
          return { ...straight, connect: plant(straight.connect) };
        };
  return { ...place, connect: plant(place.connect), road };
}

/** What did not hold; empty where all did. */
export function brokenOf({ verdict, figures }: DrillReport): string {
  return verdict === 'held' ? '' : JSON.stringify(figures['broken']);
}

function run(drill: Drill, place: Place): Promise<DrillReport> {
  return runDrill(drill, {
    place,
    seed: SEED,
    quick: true,
    realTime: false,
    progress: { update: () => undefined, print: () => undefined },
    signal: new AbortController().signal,
  });
}
