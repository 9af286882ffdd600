import { isSuretyError } from '@surety/core/errors';
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

/** A check that fails is a finding, and the others go on. */
export async function tried(
  check: string,
  run: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await run();
  } catch (error) {
    if (!isSuretyError(error)) throw error;
    return [failed(check, error)];
  }
}

/** What an error of ours says, as a problem. */
export function failed(check: string, error: { readonly message: string; readonly remedy: string }): Finding {
  const { message, remedy } = error;
  return problem(check, message.slice(0, message.length - remedy.length).trim(), remedy);
}
