/** Delete, which no text needs and every rule for characters allows: it begins an escape of four hexadecimal digits. */
const MARK = '\u007f';
// Surrogates too: older emulators take them for illegal, in pairs or not.
const ODD = /[^\t\n\r\u0020-\u007e\u0080-\ud7ff\ue000-\ufffd]/g;
// What the service itself refuses. A lone surrogate cannot be sent at all.
const ILLEGAL =
  /[^\t\n\r\u0020-\u007e\u0080-\ufffd]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const ESCAPED = /\u007f([0-9a-f]{4})/g;

/** The text with all characters escaped that some rule forbids; null: there are none. Undone by {@link restored}. */
export function escaped(text: string): string | null {
  return escape(text, ODD);
}

/** As {@link escaped}, but pairs of surrogates stay as they are: shorter, and the service allows them. */
export function barelyEscaped(text: string): string | null {
  return escape(text, ILLEGAL);
}

export function restored(text: string): string {
  return text.replace(ESCAPED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The text of a JSON value in characters that every rule allows: JSON has an escape of its own for all others. */
export function legalJson(value: unknown): string {
  return JSON.stringify(value).replace(ODD, (unit) => `\\u${hexOf(unit)}`);
}

function escape(text: string, which: RegExp): string | null {
  if (text.search(which) < 0) return null;
  return text.replace(which, (unit) => `${MARK}${hexOf(unit)}`);
}

function hexOf(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, '0');
}
