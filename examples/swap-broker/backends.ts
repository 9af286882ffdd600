import type { Backend } from '@surety/core/contract';
import { postgres } from '@surety/postgres';
import { rabbitmq } from '@surety/rabbitmq';
import { redis } from '@surety/redis';
import { sqlite } from '@surety/sqlite';
import { sqs } from '@surety/sqs';

// region: backend
/** The one place that knows a broker. An application has one of these lines. */
export function backendFor(address: string): Backend {
  const scheme = address.slice(0, address.indexOf(':'));
  switch (scheme) {
    case 'sqlite':
      return sqlite({ file: address.slice('sqlite:'.length) });
    case 'postgres':
      return postgres({ url: address });
    case 'redis':
      return redis({ connection: address });
    case 'amqp':
      return rabbitmq({ url: address });
    case 'sqs':
      return sqs(sqsOptions(new URL(address)));
    default:
      throw new Error(`There is no adapter for '${scheme}:'.`);
  }
}
// endregion

/** `sqs:REGION`, with `?endpoint=URL` for an emulator, which takes any keys. */
function sqsOptions({ pathname, searchParams }: URL): Parameters<typeof sqs>[0] {
  const endpoint = searchParams.get('endpoint');
  if (endpoint === null) return { region: pathname };
  return { region: pathname, endpoint, credentials: { accessKeyId: 'any', secretAccessKey: 'any' } };
}
