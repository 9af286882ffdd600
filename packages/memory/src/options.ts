import { SuretyError } from '@surety/core/errors';
import type { Clock } from './clock/clock.ts';
import { createRealClock } from './clock/real-clock.ts';
import type { VirtualClock } from './clock/virtual-clock.ts';
import { createMemoryStore, type MemoryStore, type Profile, Store } from './store/store.ts';

/**
 * How often profile `weak` misbehaves by itself: chances from 0 to 1, drawn from the seed. Every case is in
 * `store.faults.log`.
 */
export interface WeakFaultRates {
  /** Per delivery: the broker makes a second copy. */
  readonly duplicate: number;
  /** Per claim: it comes back empty although jobs are ready. */
  readonly emptyClaim: number;
  /** Per settlement: the answer is `unknown`, done or not done in equal shares. */
  readonly unknownSettle: number;
}

/** Options of `memory`. */
export interface MemoryOptions {
  /** `strong` (default): all that one process can promise. `weak`: no more than message brokers give, faults included. */
  readonly profile?: Profile;
  /** `'real'` (default) or a virtual clock. Not together with `store`, which has a clock. */
  readonly clock?: 'real' | VirtualClock;
  /** Several backends on one store are several connections to it. Left out: a store of its own. */
  readonly store?: MemoryStore;
  /** Of the faults of profile `weak`; 1 when left out. */
  readonly seed?: number;
  /** Of profile `weak`; what is left out keeps its default. */
  readonly faults?: Partial<WeakFaultRates>;
}

/** Rare enough that a test with retries gets on, frequent enough that one without does not last. */
const DEFAULT_FAULT_RATES: WeakFaultRates = Object.freeze({
  duplicate: 0.01,
  emptyClaim: 0.05,
  unknownSettle: 0.01,
});

/** {@link MemoryOptions}, checked and complete. */
export interface ResolvedOptions {
  readonly profile: Profile;
  readonly store: Store;
  readonly seed: number;
  readonly rates: WeakFaultRates;
}

const NAMES: ReadonlySet<string> = new Set(['profile', 'clock', 'store', 'seed', 'faults']);

/** Throws OPTIONS_INVALID for what is unknown, out of range or does not go together. */
export function resolveOptions(options: MemoryOptions): ResolvedOptions {
  for (const name of Object.keys(options)) {
    if (!NAMES.has(name)) throw invalid(`memory() has no option '${name}'.`);
  }
  const profile = options.profile ?? 'strong';
  if (profile !== 'strong' && profile !== 'weak') throw invalid(`There is no profile '${String(profile)}'.`);
  const seed = options.seed ?? 1;
  if (!Number.isSafeInteger(seed)) throw invalid('The option seed must be an integer.');
  if (profile === 'strong' && options.faults !== undefined) {
    throw invalid("The option faults belongs to profile 'weak'.");
  }
  const rates = { ...DEFAULT_FAULT_RATES, ...options.faults };
  for (const [name, rate] of Object.entries(rates)) {
    if (!(name in DEFAULT_FAULT_RATES)) throw invalid(`There is no fault rate '${name}'.`);
    if (!(rate >= 0 && rate <= 1)) throw invalid(`The fault rate ${name} must be from 0 to 1.`);
  }
  return { profile, store: resolveStore(options, profile), seed, rates };
}

function resolveStore(options: MemoryOptions, profile: Profile): Store {
  if (options.store !== undefined && options.clock !== undefined) {
    throw invalid('The options store and clock exclude each other: a store has its clock.');
  }
  const store = options.store ?? createMemoryStore({ clock: resolveClock(options.clock) });
  if (!(store instanceof Store)) throw invalid('The option store must come from createMemoryStore().');
  if (store.profile !== null && store.profile !== profile) {
    throw invalid(`The store is used with profile '${store.profile}' already.`);
  }
  store.profile = profile;
  return store;
}

function resolveClock(clock: MemoryOptions['clock']): Clock {
  return clock === undefined || clock === 'real' ? createRealClock() : clock;
}

function invalid(what: string): SuretyError {
  return new SuretyError('OPTIONS_INVALID', what, { adapter: 'memory' });
}
