import { type Capabilities, ENVELOPE_BYTES, type NewJob } from '../contract/index.ts';

/** Splits by count and by bytes, as the backend can take them; a UTF-16 unit is reckoned as three bytes, its most. */
export function* batchesOf<Item extends { readonly job: NewJob }>(
  items: readonly Item[],
  { batch }: Capabilities,
): Generator<Item[]> {
  let current: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = item.job.payload.length * 3 + ENVELOPE_BYTES;
    if (current.length === batch.maxItems || (current.length > 0 && bytes + size > batch.maxBytes)) {
      yield current;
      current = [];
      bytes = 0;
    }
    current.push(item);
    bytes += size;
  }
  if (current.length > 0) yield current;
}
