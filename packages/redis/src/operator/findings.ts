import type { Finding } from '@surety/core/operator';

/** As it should be. */
export function ok(check: string, what: string): Finding {
  return { check, level: 'ok', what, remedy: null };
}

/** Worth knowing. */
export function note(check: string, what: string, remedy: string): Finding {
  return { check, level: 'note', what, remedy };
}

/** To be changed. */
export function problem(check: string, what: string, remedy: string): Finding {
  return { check, level: 'problem', what, remedy };
}

/** The findings, or `fine` when there are none. */
export function orFine(findings: readonly (Finding | null)[], fine: Finding): readonly Finding[] {
  const found = findings.filter((finding) => finding !== null);
  return found.length === 0 ? [fine] : found;
}

export function mib(bytes: number): string {
  return `${(bytes / (1024 * 1024)).toFixed(1)} MiB`;
}
