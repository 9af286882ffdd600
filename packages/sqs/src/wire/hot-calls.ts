import type {
  ChangeMessageVisibilityBatchCommandInput,
  ChangeMessageVisibilityBatchCommandOutput,
  DeleteMessageBatchCommandInput,
  DeleteMessageBatchCommandOutput,
  ReceiveMessageCommandInput,
  ReceiveMessageCommandOutput,
  SendMessageBatchCommandInput,
  SendMessageBatchCommandOutput,
} from '@aws-sdk/client-sqs';

/** The four requests that jobs are made of; all others come by the minute. */
export interface HotInputs {
  readonly ReceiveMessage: ReceiveMessageCommandInput;
  readonly SendMessageBatch: SendMessageBatchCommandInput;
  readonly DeleteMessageBatch: DeleteMessageBatchCommandInput;
  readonly ChangeMessageVisibilityBatch: ChangeMessageVisibilityBatchCommandInput;
}

/** What they are answered with. Of what is not named here nothing is used. */
export interface HotAnswers {
  readonly ReceiveMessage: Pick<ReceiveMessageCommandOutput, 'Messages'>;
  readonly SendMessageBatch: Partial<Pick<SendMessageBatchCommandOutput, 'Successful' | 'Failed'>>;
  readonly DeleteMessageBatch: Partial<Pick<DeleteMessageBatchCommandOutput, 'Successful' | 'Failed'>>;
  readonly ChangeMessageVisibilityBatch: Partial<
    Pick<ChangeMessageVisibilityBatchCommandOutput, 'Successful' | 'Failed'>
  >;
}

export type HotAction = keyof HotInputs;

/** Sends one such request, once. Rejects with what the AWS SDK would reject with: an error with the name that the service gave it. */
export interface HotCalls {
  ask<Action extends HotAction>(
    action: Action,
    input: HotInputs[Action],
    signal: AbortSignal,
  ): Promise<HotAnswers[Action]>;
}
