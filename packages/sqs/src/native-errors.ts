import { type ErrorCode, isSuretyError, type SuretyError } from '@surety/core/errors';
import { failure } from './call.ts';

/** What an error of the client or the service means. */
export interface Meaning {
  readonly code: ErrorCode;
  /** `no`: certainly nothing was done. */
  readonly acted: 'no' | 'unknown';
  /** The service asks to come again later. */
  readonly passing: boolean;
}

const THROTTLED: readonly string[] = [
  'RequestThrottled',
  'ThrottlingException',
  'Throttling',
  'ThrottledException',
  'TooManyRequestsException',
  'RequestLimitExceeded',
  'KmsThrottled',
  'OverLimit',
  'SlowDown',
];
const AWAY: readonly string[] = ['ServiceUnavailable', 'ServiceUnavailableException'];
const DENIED: readonly string[] = [
  'AccessDenied',
  'AccessDeniedException',
  'InvalidClientTokenId',
  'UnrecognizedClientException',
  'SignatureDoesNotMatch',
  'InvalidSignatureException',
  'IncompleteSignature',
  'ExpiredToken',
  'ExpiredTokenException',
  'MissingAuthenticationToken',
  'MissingAuthenticationTokenException',
  'InvalidSecurity',
  'OptInRequired',
  'NotAuthorized',
  'KmsAccessDenied',
  'CredentialsProviderError',
];
const BY_NAME: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ...THROTTLED.map((name) => [name, { code: 'BACKEND_OVERLOADED', acted: 'no', passing: true }] as const),
  ...AWAY.map((name) => [name, { code: 'BACKEND_UNAVAILABLE', acted: 'no', passing: true }] as const),
  ...DENIED.map((name) => [name, { code: 'PERMISSION_DENIED', acted: 'no', passing: false }] as const),
  ...['RequestExpired', 'RequestTimeTooSkewed'].map(
    // The client corrects its clock by the answer; the second try is signed with the right time.
    (name) => [name, { code: 'PERMISSION_DENIED', acted: 'no', passing: true }] as const,
  ),
  ...['QueueDoesNotExist', 'AWS.SimpleQueueService.NonExistentQueue', 'NonExistentQueue'].map(
    (name) => [name, { code: 'SCHEMA_MISSING', acted: 'no', passing: false }] as const,
  ),
  ...['QueueNameExists', 'QueueAlreadyExists', 'UnsupportedOperation', 'InvalidAddress'].map(
    (name) => [name, { code: 'STORE_UNSUITABLE', acted: 'no', passing: false }] as const,
  ),
  // The name of a queue is free again a minute after it was deleted.
  ['QueueDeletedRecently', { code: 'BACKEND_OVERLOADED', acted: 'no', passing: true }],
  ['BatchRequestTooLong', { code: 'PAYLOAD_TOO_LARGE', acted: 'no', passing: false }],
  ['InvalidMessageContents', { code: 'PAYLOAD_NOT_SUPPORTED', acted: 'no', passing: false }],
  ['InvalidParameterValue', { code: 'LIMIT_EXCEEDED', acted: 'no', passing: false }],
  ['AbortError', { code: 'BACKEND_TIMEOUT', acted: 'unknown', passing: false }],
  ['TimeoutError', { code: 'BACKEND_TIMEOUT', acted: 'unknown', passing: false }],
]);

/** A connection that was never made: nothing was sent. */
const UNMADE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
]);
/** One that was lost under the request. */
const LOST: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

/** What the service or the client threw, by its name alone. */
export function nameOf(native: unknown): string {
  const name: unknown = (native as { readonly name?: unknown } | null)?.name;
  const text = typeof name === 'string' ? name : 'Error';
  return text.slice(text.indexOf('#') + 1);
}

export function meaningOf(native: unknown): Meaning {
  const known = BY_NAME.get(nameOf(native));
  if (known?.code === 'PERMISSION_DENIED' && isSkewCorrected(native)) return { ...known, passing: true };
  if (known !== undefined) return known;
  const code = systemCode(native);
  if (UNMADE.has(code)) return { code: 'BACKEND_UNAVAILABLE', acted: 'no', passing: false };
  if (LOST.has(code) || /socket hang up/i.test(textOf(native)))
    return { code: 'BACKEND_UNAVAILABLE', acted: 'unknown', passing: false };
  const status = statusOf(native);
  if (status === 429) return { code: 'BACKEND_OVERLOADED', acted: 'no', passing: true };
  if (status === 403 || status === 401) return { code: 'PERMISSION_DENIED', acted: 'no', passing: false };
  if (status >= 500) return { code: 'BACKEND_UNAVAILABLE', acted: 'unknown', passing: true };
  if (status >= 400) return { code: 'INTERNAL', acted: 'no', passing: false };
  return { code: 'INTERNAL', acted: 'unknown', passing: false };
}

/** The error as it crosses the contract. `action` is the request, as the service's rights name it. */
export function fromNative(native: unknown, operation: string, action: string): SuretyError {
  if (isSuretyError(native)) return native;
  const { code, acted } = meaningOf(native);
  const details = { cause: native, ...(acted === 'unknown' && { retryable: 'unknown' as const }) };
  const right = rightOf(action);
  switch (code) {
    case 'PERMISSION_DENIED':
      if (nameOf(native) === 'CredentialsProviderError')
        return failure(code, 'No credentials for AWS were found.', operation, {
          ...details,
          remedy:
            'Give them where the AWS SDK looks for them (a role, the environment, a profile), or as the option credentials.',
        });
      return failure(code, `The service refused ${action} (${nameOf(native)}).`, operation, {
        ...details,
        remedy: `Grant ${right} to these credentials, or correct the credentials, the region and the clock of this machine.`,
      });
    case 'SCHEMA_MISSING':
      return failure(code, `The queue that ${action} was asked for does not exist.`, operation, {
        ...details,
        remedy:
          'Check region and prefix, let the backend create its queues, or make them with `surety migrate`.',
      });
    case 'BACKEND_UNAVAILABLE': {
      const system = systemCode(native);
      const why = system === '' ? '' : `: ${system}`;
      return failure(code, `The connection to SQS failed${why}.`, operation, details);
    }
    case 'BACKEND_TIMEOUT':
      return failure(code, 'SQS did not answer in time.', operation, details);
    default:
      return failure(code, `SQS answered ${action} with ${nameOf(native)}.`, operation, details);
  }
}

/** Batches are allowed by the right for one. */
function rightOf(action: string): string {
  if (action === 'GetMetricStatistics') return `cloudwatch:${action}`;
  return `sqs:${action.replace(/Batch$/, '')} on the queue`;
}

function systemCode(native: unknown): string {
  if (native instanceof AggregateError) return systemCode(native.errors[0]);
  const code: unknown = (native as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' && /^E[A-Z_]{2,40}$/.test(code) ? code : '';
}

function textOf(native: unknown): string {
  return native instanceof Error ? native.message : '';
}

function statusOf(native: unknown): number {
  const status = metadataOf(native)?.httpStatusCode;
  return typeof status === 'number' ? status : 0;
}

/** It was refused for its time, and the next try is signed with the right one. */
function isSkewCorrected(native: unknown): boolean {
  return metadataOf(native)?.clockSkewCorrected === true;
}

function metadataOf(
  native: unknown,
): { readonly httpStatusCode?: unknown; readonly clockSkewCorrected?: unknown } | undefined {
  const metadata: unknown = (native as { readonly $metadata?: unknown } | null)?.$metadata;
  return typeof metadata === 'object' && metadata !== null ? metadata : undefined;
}
