import type { Payload } from './contestant.ts';

/** UTF-8 bytes of every payload as JSON. */
export const PAYLOAD_BYTES = 200;

export function payload(n: number): Payload {
  const bare = JSON.stringify({ n, filler: '' }).length;
  return { n, filler: 'x'.repeat(PAYLOAD_BYTES - bare) };
}

export function payloads(count: number): readonly Payload[] {
  return Array.from({ length: count }, (_, n) => payload(n));
}

/** The text of `payload(n)` as SQL makes it, for PostgreSQL and SQLite; `n` is an expression. */
export function payloadSql(n: string): string {
  const bare = `('{"n":' || ${n} || ',"filler":"')`;
  const end = `'"}'`;
  const filler = 'x'.repeat(PAYLOAD_BYTES);
  return `(${bare} || substr('${filler}', 1, ${PAYLOAD_BYTES} - length(${bare}) - length(${end})) || ${end})`;
}
