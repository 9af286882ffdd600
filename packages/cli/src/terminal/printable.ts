// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * A text of a job on one line. Control characters are written out: an error message of a handler may hold what somebody else sent,
 * and must not move the cursor, colour the screen or fake a line.
 */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return ' ';
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The same, cut to a width. */
export function clipped(text: string, width: number): string {
  const line = printable(text);
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}
