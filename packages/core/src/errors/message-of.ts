/** Enough to know what went wrong, short enough for a message that quotes it. */
const LONGEST = 300;

/** What a thrown value says, in one short line, also where reading it throws or it is no error at all. Never ends with a full stop. */
export function messageOf(thrown: unknown): string {
  const text = textOf(thrown).trim().replace(/\s+/g, ' ');
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return short.toWellFormed().replace(/\.+$/, '') || 'no message';
}

function textOf(thrown: unknown): string {
  try {
    const said: unknown =
      typeof thrown === 'object' && thrown !== null && 'message' in thrown ? thrown.message : thrown;
    return String(said);
  } catch {
    return 'a value that cannot be read was thrown';
  }
}
