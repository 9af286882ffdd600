/** An error as the service answers it. */
export interface ServiceError {
  readonly code: string;
  readonly message: string;
}

/** A request, as far as its limits are concerned. */
export interface SqsRequest {
  readonly QueueUrl?: string;
  readonly ReceiptHandle?: string;
  readonly VisibilityTimeout?: unknown;
  readonly DelaySeconds?: unknown;
  readonly WaitTimeSeconds?: unknown;
  readonly MaxNumberOfMessages?: unknown;
  readonly MessageBody?: string;
  readonly MessageAttributes?: Readonly<Record<string, unknown>>;
  readonly Entries?: readonly SqsEntry[];
}

/** An entry of a batch. */
export interface SqsEntry extends SqsRequest {
  readonly Id: string;
}

const MOST_ATTRIBUTES = 10;
const LONGEST_DELAY_S = 900;
const LONGEST_VISIBILITY_S = 43_200;

/** What the service would refuse and the emulator lets pass; null: nothing. */
export function brokenRule(
  request: SqsRequest,
  heldForMs: (handle: string) => number | null,
): ServiceError | null {
  const whole = (name: 'DelaySeconds' | 'VisibilityTimeout', most: number): ServiceError | null => {
    const value = request[name];
    if (value === undefined || (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most))
      return null;
    return invalid(
      `Value ${JSON.stringify(value)} for parameter ${name} is invalid. Reason: Must be an integer from 0 to ${most}.`,
    );
  };
  const limit = whole('DelaySeconds', LONGEST_DELAY_S) ?? whole('VisibilityTimeout', LONGEST_VISIBILITY_S);
  if (limit !== null) return limit;
  const attributes = Object.keys(request.MessageAttributes ?? {}).length;
  if (attributes > MOST_ATTRIBUTES)
    return invalid(`Number of message attributes [${attributes}] exceeds the allowed maximum [10].`);
  const { ReceiptHandle: handle, VisibilityTimeout: seconds } = request;
  if (handle === undefined || seconds === undefined) return null;
  const heldMs = heldForMs(handle);
  if (heldMs === null || heldMs / 1000 + Number(seconds) <= LONGEST_VISIBILITY_S) return null;
  return invalid(
    `Total VisibilityTimeout for the message is beyond the limit [${LONGEST_VISIBILITY_S} seconds].`,
  );
}

function invalid(message: string): ServiceError {
  return { code: 'InvalidParameterValue', message };
}
