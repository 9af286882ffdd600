import { DELIVERIES, type Delivery, MISFIT } from './deliveries.ts';
import { seeded } from './seeded.ts';

/** How the dependency treats a delivery: it refuses the first requests for it, or all of them for good. */
export type Fate = { readonly kind: 'flaky'; readonly refusals: number } | { readonly kind: 'rejected' };

/** One delivery in 60 is rejected for good, one in four meets one or two transient refusals. */
const REJECTED_SHARE = 1 / 60;
const FLAKY_SHARE = 1 / 4;

/** By a seeded rule: the same in every run, and whatever the order of the requests. */
export function fateOf(key: string): Fate {
  if (seeded('rejected', key) < REJECTED_SHARE) return { kind: 'rejected' };
  const draw = seeded('flaky', key);
  if (draw >= FLAKY_SHARE) return { kind: 'flaky', refusals: 0 };
  return { kind: 'flaky', refusals: draw < FLAKY_SHARE / 3 ? 2 : 1 };
}

/** The keys that must end as dead letters, and no others may. Follows from the input alone, not from what the run reports. */
export function poisonKeys(): ReadonlySet<string> {
  const poison = DELIVERIES.filter(
    (delivery) => lacksSender(delivery) || fateOf(delivery.key).kind === 'rejected',
  );
  return new Set([...poison, MISFIT].map(({ key }) => key));
}

/** Four real payloads (`security_advisory`) have no sender, which the handler does not expect. Nobody planted them. */
function lacksSender({ payload }: Delivery): boolean {
  return (payload as { readonly sender?: unknown }).sender === undefined;
}
