import { defineJob } from '@surety/core';
import { type RabbitmqOptions, rabbitmq } from '@surety/rabbitmq';

// region: job
/** Tried again after about half a second, one second, two, … up to a minute between two attempts. */
export const charge = defineJob<{ account: string; period: number }>('subscription.charge', {
  queue: 'billing',
  retry: { maxAttempts: 12, base: '500ms', cap: '1m' },
  timeout: '10m',
});
// endregion

// region: backend
/** The same in every process. `queues`: made when the process starts, not with the first job. */
export function broker(): ReturnType<typeof rabbitmq> {
  const options: RabbitmqOptions = {
    url: process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672',
    queues: [charge.queue],
  };
  return rabbitmq(options);
}
// endregion
