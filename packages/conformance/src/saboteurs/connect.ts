import type { Backend } from '@surety/core/contract';
import { SABOTEURS } from './all.ts';

/** What a child is told, so that it plants the same bug as its parent. */
export interface SabotagedArgs {
  readonly module: string;
  readonly args: unknown;
  readonly saboteur: string;
}

/** Connects as the harness's own module would, with the bug planted. */
export async function connect(given: unknown): Promise<Backend> {
  const { module, args, saboteur } = given as SabotagedArgs;
  const loaded = (await import(module)) as { connect(args: unknown): Backend };
  const planted = SABOTEURS.find(({ id }) => id === saboteur);
  if (planted === undefined) throw new Error(`No saboteur ${saboteur}.`);
  return planted.plant()(loaded.connect(args));
}
