export { type CodeFacts, ERROR_CODES, type ErrorCode, type Retryable } from './codes.ts';
export { type ErrorDetails, isSuretyError, SuretyError } from './surety-error.ts';
