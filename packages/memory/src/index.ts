import type { Backend } from '@surety/core/contract';
import { assemble } from './backend.ts';
import type { StrongCapabilities, WeakCapabilities } from './capabilities.ts';
import { type MemoryOptions, resolveOptions } from './options.ts';

export type { StrongCapabilities, WeakCapabilities } from './capabilities.ts';
export type { Clock, ClockTimer } from './clock/clock.ts';
export { createVirtualClock, type VirtualClock } from './clock/virtual-clock.ts';
export type { MemoryOptions, WeakFaultRates } from './options.ts';
export type { FaultControls, Move, Operation } from './store/fault-controls.ts';
export type { FaultKind, FaultRecord } from './store/fault-log.ts';
export { createMemoryStore, type MemoryStore, type MemoryStoreOptions, type Profile } from './store/store.ts';

/**
 * The reference backend: jobs in the memory of this process, gone with it. Profile `strong` is the contract at its
 * best, profile `weak` is what message brokers leave of it. Throws OPTIONS_INVALID.
 */
export function memory(
  options?: MemoryOptions & { readonly profile?: 'strong' },
): Backend<StrongCapabilities>;
export function memory(options: MemoryOptions & { readonly profile: 'weak' }): Backend<WeakCapabilities>;
export function memory(options?: MemoryOptions): Backend;
export function memory(options: MemoryOptions = {}): Backend {
  return assemble(resolveOptions(options));
}
