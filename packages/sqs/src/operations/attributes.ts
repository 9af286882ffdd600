import { GetQueueAttributesCommand, type QueueAttributeName } from '@aws-sdk/client-sqs';
import type { Call } from '../call.ts';
import type { Session } from '../session.ts';

/** Figures of one queue of SQS. */
export async function readAttributes(
  { requests, sending }: Pick<Session, 'requests' | 'sending'>,
  url: string,
  names: readonly QueueAttributeName[],
  call: Call,
): Promise<Partial<Record<QueueAttributeName, string>>> {
  const { Attributes } = await requests.ask(call, {
    action: 'GetQueueAttributes',
    verb: 'control',
    url,
    wire: sending,
    isRepeatable: true,
    send: (abortSignal) =>
      sending.client.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...names] }), {
        abortSignal,
      }),
  });
  return Attributes ?? {};
}
