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

/** `850 ms`, `12 s`, `4 min`, `3 h`, `2 d`: enough to judge by. */
export function spell(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}
