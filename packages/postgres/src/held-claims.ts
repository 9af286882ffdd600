import type { Lease } from '@surety/core/contract';

/**
 * The claims of this process and the fences of their leases that were not answered for yet, so that a claim row can be
 * removed with its last settlement. Nothing depends on it: a row that stays expires and is found to hold nothing.
 */
export interface HeldClaims {
  took(nonce: string, leases: readonly Lease[]): void;
  /** Claims of which every open lease is among these. */
  endedBy(leases: readonly { readonly nonce: string; readonly fence: number }[]): string[];
  /** A lease was answered for. */
  answered(nonce: string, fence: number): void;
  /** Claims that ended across several statements, each told once. */
  drainEnded(): string[];
}

/** Far more than one process holds at a time; the oldest are forgotten first. */
const MOST_CLAIMS = 1000;
const MOST_ENDED = 100;

export function createHeldClaims(): HeldClaims {
  const open = new Map<string, Set<number>>();
  let ended: string[] = [];
  return {
    took(nonce, leases) {
      if (leases.length === 0 || open.has(nonce)) return;
      open.set(nonce, new Set(leases.map(({ token }) => token.fence)));
      if (open.size <= MOST_CLAIMS) return;
      for (const oldest of open.keys()) {
        open.delete(oldest);
        return;
      }
    },
    endedBy(leases) {
      const counts = new Map<string, number>();
      for (const { nonce, fence } of leases) {
        if (open.get(nonce)?.has(fence) === true) counts.set(nonce, (counts.get(nonce) ?? 0) + 1);
      }
      return [...counts].filter(([nonce, count]) => open.get(nonce)?.size === count).map(([nonce]) => nonce);
    },
    answered(nonce, fence) {
      const fences = open.get(nonce);
      if (fences?.delete(fence) !== true || fences.size > 0) return;
      open.delete(nonce);
      if (ended.length < MOST_ENDED) ended.push(nonce);
    },
    drainEnded() {
      const told = ended;
      ended = [];
      return told;
    },
  };
}
