import { conformance } from '@surety/conformance/vitest';
import { describe, test } from 'vitest';
import { createHarness } from './harness.ts';

for (const variant of [null, 'weak']) {
  const suffix = variant === null ? '' : `-${variant}`;
  conformance({
    describe,
    test,
    harness: createHarness(variant),
    expected: new URL(`./conformance.expected${suffix}.json`, import.meta.url),
  });
}
