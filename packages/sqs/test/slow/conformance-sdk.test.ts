import { conformance } from '@surety/conformance/vitest';
import { describe, test } from 'vitest';
import { createHarness } from '../harness.ts';

conformance({ describe, test, harness: createHarness('sdk') });
