import { enqueueSaboteurs } from './in-enqueue.ts';
import { leaseSaboteurs } from './in-leases.ts';
import { viewSaboteurs } from './in-views.ts';
import type { Saboteur } from './saboteur.ts';

/** Every planted bug. */
export const SABOTEURS: readonly Saboteur[] = Object.freeze([
  ...enqueueSaboteurs,
  ...leaseSaboteurs,
  ...viewSaboteurs,
]);
