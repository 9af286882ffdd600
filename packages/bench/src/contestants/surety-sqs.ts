import type { LogChoice } from '@surety/core';
import { sqs } from '@surety/sqs';
import { observeSqsQueues } from '../observers/sqs-queues.ts';
import type { Contestant } from './contestant.ts';
import { OURS, OURS_LOGGED } from './names.ts';
import { suretyOn } from './surety.ts';

export const suretyOnSqs: Contestant = onSqs(OURS, 'none');
export const suretyOnSqsLogged: Contestant = onSqs(OURS_LOGGED, 'all');

function onSqs(name: string, log: LogChoice): Contestant {
  return suretyOn({
    name,
    log,
    packages: ['@surety/sqs', '@aws-sdk/client-sqs'],
    backend: (location) => {
      const { origin, pathname } = new URL(location);
      return sqs({
        region: 'us-east-1',
        endpoint: origin,
        credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
        prefix: pathname.slice(1),
        queues: ['bench'],
      });
    },
    observe: (location) => observeSqsQueues(location, ['bench', 'bench-DELAY', 'bench-DEAD']),
  });
}
