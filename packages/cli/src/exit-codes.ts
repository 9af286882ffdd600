/** What the exit codes say; the same for every command. */
export const EXIT: { readonly ok: 0; readonly no: 1; readonly unable: 2 } = Object.freeze({
  /** Done. */
  ok: 0,
  /** The answer is no: not found, a problem found, a case failed, declined. */
  no: 1,
  /** Wrong arguments, or the store cannot be reached or refused. Nothing was changed by arguments that are wrong. */
  unable: 2,
});

/** Arguments that are wrong: one line, without the beginning `surety:`. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
