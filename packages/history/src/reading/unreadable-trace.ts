/** A trace that cannot be read, or is none. */
export class UnreadableTrace extends Error {
  override readonly name = 'UnreadableTrace';
}
