import type { Backend } from '@surety/core/contract';
import { createBackend } from './backend.ts';
import type { SqsCapabilities } from './capabilities.ts';
import { resolveOptions, type SqsOptions } from './options.ts';

export type { SqsCapabilities } from './capabilities.ts';
export type { SqsCredentials, SqsOptions } from './options.ts';

/**
 * A backend on standard queues of Amazon SQS: every move a stored copy before the original is deleted (`moves: 'copy'`), leases up to twelve hours, delays up
 * to a year, dead letters with their errors. Throws OPTIONS_INVALID; connects with `open`.
 */
export function sqs(options: SqsOptions): Backend<SqsCapabilities> {
  return createBackend(resolveOptions(options));
}
