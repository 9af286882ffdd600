import type { Capabilities, NewJob } from '../contract/index.ts';
import { jobBytes } from './job-size.ts';

/** Splits by count and by bytes, as the backend can take them. A job that is larger than a whole batch goes alone. */
export function* batchesOf<Item extends { readonly job: NewJob }>(
  items: readonly Item[],
  { batch }: Capabilities,
): Generator<Item[]> {
  let current: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = jobBytes(item.job);
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
