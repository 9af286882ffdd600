import type { Backend } from '@surety/core/contract';
import { SABOTEURS } from '../../../packages/conformance/src/saboteurs/all.ts';
import { type Connect, connectTo } from '../../stage/place.ts';

/** A store with one of the conformance suite's planted bugs. */
export async function connect(args: unknown): Promise<Backend> {
  const { inner, id } = args as { readonly inner: Connect; readonly id: string };
  const saboteur = SABOTEURS.find((each) => each.id === id);
  if (saboteur === undefined) throw new Error(`no saboteur ${id}`);
  return saboteur.plant()(await connectTo(inner));
}
