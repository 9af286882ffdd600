import type { LogChoice } from '@surety/core';
import { rabbitmq } from '@surety/rabbitmq';
import { observeRabbitmqQueues } from '../observers/rabbitmq-queues.ts';
import { placeOf, suretyQueues } from '../stores/rabbitmq-place.ts';
import type { Contestant } from './contestant.ts';
import { OURS, OURS_LOGGED } from './names.ts';
import { suretyOn } from './surety.ts';

export const suretyOnRabbitmq: Contestant = onRabbitmq(OURS, 'none');
export const suretyOnRabbitmqLogged: Contestant = onRabbitmq(OURS_LOGGED, 'all');

function onRabbitmq(name: string, log: LogChoice): Contestant {
  return suretyOn({
    name,
    log,
    packages: ['@surety/rabbitmq', 'amqplib'],
    backend: (location) => {
      const { url, prefix } = placeOf(location);
      return rabbitmq({ url, prefix, queues: ['bench'] });
    },
    observe: (location) => observeRabbitmqQueues(location, suretyQueues(placeOf(location).prefix)),
  });
}
