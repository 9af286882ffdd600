import type { Backend } from '@surety/core/contract';
import { createBackend } from './backend.ts';
import type { RabbitmqCapabilities } from './capabilities.ts';
import { type RabbitmqOptions, resolveOptions } from './options.ts';

export type { RabbitmqCapabilities } from './capabilities.ts';
export type { RabbitmqOptions } from './options.ts';

/**
 * A backend on RabbitMQ 3.10 or later, without plugins: quorum queues, every move a confirmed copy before the original is acknowledged
 * (`moves: 'copy'`), leases that end by time or with their connection, delays up to a year. Throws OPTIONS_INVALID; connects with `open`.
 */
export function rabbitmq(options: RabbitmqOptions): Backend<RabbitmqCapabilities> {
  return createBackend(resolveOptions(options));
}
