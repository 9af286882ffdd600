import type { Capabilities } from '@surety/core/contract';
import type { Connection } from '../connection.ts';
import type { WeakFaultRates } from '../options.ts';
import type { Random } from './random.ts';
import type { Store } from './store.ts';

/** What every operation of one backend works with. */
export interface Context {
  readonly store: Store;
  readonly connection: Connection;
  readonly capabilities: Capabilities;
  readonly random: Random;
  readonly rates: WeakFaultRates;
}

/** Whether profile `weak` misbehaves this time. */
export function chance(context: Context, fault: keyof WeakFaultRates): boolean {
  return context.store.weak && context.random() < context.rates[fault];
}
