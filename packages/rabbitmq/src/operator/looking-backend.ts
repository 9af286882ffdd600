import type { Backend, CallOptions } from '@surety/core/contract';
import type { StoreAddress } from '@surety/core/operator';
import { failure, startCall } from '../call.ts';
import { rabbitmq } from '../index.ts';
import { type Place, placeOf } from './address.ts';
import { listUnder, queuesIn } from './listed-queues.ts';
import { managementAt } from './management.ts';

/** A backend that makes nothing, and knows the queues that its address names or that the management API lists. */
export function lookingBackend(address: StoreAddress): Backend {
  const place = placeOf(address);
  const backend = rabbitmq({ ...place.options, declare: false });
  return {
    ...backend,
    async queues(call) {
      const found: string[] = [];
      const met = await backend.queues(call);
      for (const queue of new Set([...met, ...(await known(place, call))])) {
        if (met.includes(queue) || (await isInUse(backend, queue, call))) found.push(queue);
      }
      return found.sort();
    },
  };
}

async function known(place: Place, options: CallOptions): Promise<readonly string[]> {
  const { management, queues, vhost, resolved } = place;
  if (management !== null) {
    const api = managementAt(management, startCall('queues', options));
    return [...queues, ...queuesIn(await listUnder(api, vhost, resolved.prefix), resolved.prefix)];
  }
  if (queues.length > 0) return queues;
  throw failure('CAPABILITY_MISSING', 'RabbitMQ does not list its queues over AMQP.', 'queues', {
    remedy:
      'Name one by --queue, some by ?queues=NAME,NAME in the URL, or give ?management=http://HOST:15672.',
  });
}

async function isInUse(backend: Backend, queue: string, call: CallOptions): Promise<boolean> {
  const { ready, scheduled, dead } = await backend.counts(queue, call);
  if ([ready, scheduled, dead].some(({ value }) => (value ?? 0) > 0)) return true;
  return (await backend.pacing.state(queue, call)).paused;
}
