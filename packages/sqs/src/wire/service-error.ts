import type { Answer } from './http-post.ts';

/** An error that the service answered, as the AWS SDK shapes it. */
export interface ServiceError extends Error {
  readonly $metadata: {
    readonly httpStatusCode: number;
    readonly requestId?: string;
    /** It was refused for its time, and the next one is signed with the time of the service. */
    readonly clockSkewCorrected?: boolean;
  };
}

const KMS_NAMES: ReadonlyMap<string, string> = new Map([
  ['KMS.AccessDeniedException', 'KmsAccessDenied'],
  ['KMS.DisabledException', 'KmsDisabled'],
  ['KMS.InvalidKeyUsageException', 'KmsInvalidKeyUsage'],
  ['KMS.InvalidStateException', 'KmsInvalidState'],
  ['KMS.NotFoundException', 'KmsNotFound'],
  ['KMS.OptInRequired', 'KmsOptInRequired'],
  ['KMS.ThrottlingException', 'KmsThrottled'],
]);
const QUERY_PREFIX = 'AWS.SimpleQueueService.';

/** The error in an answer. Its name is the one that the service has in its older protocol, then the one in a header, then the one in the body. */
export function serviceError({ status, headers, text }: Answer, clockSkewCorrected: boolean): ServiceError {
  const body = contentOf(text);
  const said = body['message'] ?? body['Message'];
  const requestId = textIn(headers['x-amzn-requestid']);
  return Object.assign(new Error(typeof said === 'string' ? said : `The service answered ${status}.`), {
    name: nameIn(body, textIn(headers['x-amzn-query-error']), textIn(headers['x-amzn-errortype'])),
    $metadata: {
      httpStatusCode: status,
      ...(requestId !== '' && { requestId }),
      ...(clockSkewCorrected && { clockSkewCorrected }),
    },
  });
}

function nameIn(body: Readonly<Record<string, unknown>>, query: string, type: string): string {
  const [code = ''] = query.split(';');
  const inBody = textIn(body['code'] ?? body['Code']) || type || textIn(body['__type']);
  const name = code === '' ? bare(inBody) : code;
  const known = KMS_NAMES.get(name);
  if (known !== undefined) return known;
  if (name === `${QUERY_PREFIX}NonExistentQueue`) return 'QueueDoesNotExist';
  return name.startsWith(QUERY_PREFIX) ? name.slice(QUERY_PREFIX.length) : name || 'Unknown';
}

/** `com.amazonaws.sqs#QueueDoesNotExist:http://...` */
function bare(code: string): string {
  const [first = ''] = code.split(/[,:]/);
  return first.slice(first.indexOf('#') + 1);
}

/** A proxy in between may answer with what is no JSON; then its status has to do. */
function contentOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const content: unknown = JSON.parse(text);
    return typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
