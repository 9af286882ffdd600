import type { Capabilities } from '@surety/core/contract';
import type { Context } from './context.ts';

/** What a case needs of the harness beside backends. */
export type Hook = 'child' | 'server' | 'network' | 'elapse' | 'corruptPayload' | 'transaction';

/** `quick` cases belong into every test run; `slow` ones kill servers or take long. */
export type Cost = 'quick' | 'slow';

/** One thing asked of every backend. Plain data: nothing runs until the suite calls `run`. */
export interface Case {
  /** Stable: `<guarantee>/<name>`. */
  readonly id: string;
  /** Sub-clause, `G2.1`. */
  readonly guarantee: string;
  readonly title: string;
  /** Ids of the catalogue of known failures that this case rules out. */
  readonly covers: readonly string[];
  readonly hooks: readonly Hook[];
  readonly cost: Cost;
  /** Runs with no other case beside it: it disturbs the server or measures time closely. */
  readonly alone: boolean;
  /** The case fails when it has not ended by then, so that nothing hangs. */
  readonly timeoutMs: number;
  /** True, or why the capabilities make the question pointless. Decides by capabilities, never by a name. */
  readonly needs: (capabilities: Capabilities) => true | string;
  readonly run: (context: Context) => Promise<void>;
}

/** What an author of a case writes; the rest is filled in by {@link define}. */
export interface CaseDraft {
  readonly id: string;
  readonly title: string;
  readonly covers?: readonly string[];
  readonly hooks?: readonly Hook[];
  readonly cost?: Cost;
  readonly alone?: boolean;
  readonly timeoutMs?: number;
  readonly needs?: (capabilities: Capabilities) => true | string;
  readonly run: (context: Context) => Promise<void>;
}

/** Makes a case. The part of the id before the slash is its guarantee. */
export function define(draft: CaseDraft): Case {
  const hooks = draft.hooks ?? [];
  const cost = draft.cost ?? 'quick';
  return Object.freeze({
    id: draft.id,
    guarantee: draft.id.slice(0, draft.id.indexOf('/')),
    title: draft.title,
    covers: draft.covers ?? [],
    hooks,
    cost,
    // Faults of the one server strike the neighbours too, and so does an open transaction where the store has one writer.
    alone: draft.alone ?? (hooks.includes('server') || hooks.includes('transaction')),
    timeoutMs: draft.timeoutMs ?? (cost === 'slow' ? 180_000 : 60_000),
    needs: draft.needs ?? always,
    run: draft.run,
  });
}

function always(): true {
  return true;
}

/** For `needs`: true when the condition holds, else the reason. */
export function unless(condition: boolean, reason: string): true | string {
  return condition || reason;
}
