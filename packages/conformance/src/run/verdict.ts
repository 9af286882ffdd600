import type { Capabilities } from '@surety/core/contract';
import type { Case, Hook } from '../case.ts';
import type { Harness } from '../harness.ts';

/** How a case can end. `waived`: it failed, and the caller had said so beforehand. */
export type Status = 'proven' | 'not-applicable' | 'not-exercised' | 'waived' | 'failed';

/** A known failure that the caller accepts until a day (ISO date); after it the case fails again. */
export interface Waiver {
  readonly id: string;
  readonly reason: string;
  readonly until: string;
}

/** The end of one case. */
export interface CaseResult {
  readonly id: string;
  readonly guarantee: string;
  readonly status: Status;
  readonly reason: string | null;
  readonly ms: number;
}

/** Why a case is not run; null: it is. */
export function reasonNotToRun(
  subject: Case,
  capabilities: Capabilities,
  harness: Harness,
): { readonly status: 'not-applicable' | 'not-exercised'; readonly reason: string } | null {
  const applicable = subject.needs(capabilities);
  if (applicable !== true) return { status: 'not-applicable', reason: applicable };
  for (const hook of subject.hooks) {
    const reason = pointless(hook, capabilities, harness);
    if (reason !== null) return { status: 'not-applicable', reason };
  }
  const missing = subject.hooks.find((hook) => !offers(harness, hook));
  return missing === undefined
    ? null
    : { status: 'not-exercised', reason: `the harness has no hook ${missing}` };
}

function offers(harness: Harness, hook: Hook): boolean {
  // A clock that can be moved makes any time pass.
  if (hook === 'elapse' && harness.advance !== undefined) return true;
  return harness[hook] !== undefined;
}

function pointless(hook: Hook, capabilities: Capabilities, harness: Harness): string | null {
  if ((hook === 'server' || hook === 'network') && harness.serverless === true) return 'embedded: no server';
  if (hook === 'child' && capabilities.sessions === 'one-process')
    return 'one process: no other can open the store';
  if (hook === 'transaction' && !capabilities.transactional) return 'not transactional';
  return null;
}

/** The waiver of a case that still holds on the day. */
export function waiverOf(id: string, waivers: readonly Waiver[], today: string): Waiver | null {
  return waivers.find((waiver) => waiver.id === id && waiver.until >= today) ?? null;
}
