import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { HotAction, HotAnswers, HotCalls, HotInputs } from './hot-calls.ts';

type Senders = {
  readonly [Action in HotAction]: (
    client: SQSClient,
    input: HotInputs[Action],
    abortSignal: AbortSignal,
  ) => Promise<HotAnswers[Action]>;
};

const SENDERS: Senders = {
  ReceiveMessage: (client, input, abortSignal) =>
    client.send(new ReceiveMessageCommand(input), { abortSignal }),
  SendMessageBatch: (client, input, abortSignal) =>
    client.send(new SendMessageBatchCommand(input), { abortSignal }),
  DeleteMessageBatch: (client, input, abortSignal) =>
    client.send(new DeleteMessageBatchCommand(input), { abortSignal }),
  ChangeMessageVisibilityBatch: (client, input, abortSignal) =>
    client.send(new ChangeMessageVisibilityBatchCommand(input), { abortSignal }),
};

/** By the AWS SDK, with everything that was added to its client. */
export function sdkCalls(client: SQSClient): HotCalls {
  return { ask: (action, input, signal) => SENDERS[action](client, input, signal) };
}
