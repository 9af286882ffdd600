import type { Payload } from '../contestants/contestant.ts';

/** UTF-8 bytes of every payload as JSON. */
export const PAYLOAD_BYTES = 200;

export function payloads(count: number): readonly Payload[] {
  return Array.from({ length: count }, (_, n) => {
    const bare = JSON.stringify({ n, filler: '' }).length;
    return { n, filler: 'x'.repeat(PAYLOAD_BYTES - bare) };
  });
}
