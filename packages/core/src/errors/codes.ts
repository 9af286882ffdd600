/** Whether repeating the same call can succeed. `unknown`: it may have been done already. */
export type Retryable = 'yes' | 'no' | 'unknown';

/** One line of the error table. */
export interface CodeFacts {
  readonly family: 'setup' | 'capability' | 'backend' | 'uncertain' | 'data' | 'handler' | 'bug';
  readonly retryable: Retryable;
  readonly meaning: string;
  readonly remedy: string;
}

/** Every error code. Codes are never renamed; the docs' table is generated from this one. */
export const ERROR_CODES = {
  OPTIONS_INVALID: {
    family: 'setup',
    retryable: 'no',
    meaning: 'An option or argument is unknown or out of range.',
    remedy: 'Correct the option that the message names.',
  },
  JOB_DEFINED_TWICE: {
    family: 'setup',
    retryable: 'no',
    meaning: 'Two definitions or two handlers share one type.',
    remedy: 'Give each type one definition and one handler per worker.',
  },
  CONTRACT_VERSION_UNSUPPORTED: {
    family: 'setup',
    retryable: 'no',
    meaning: 'The adapter was built for another version of the contract.',
    remedy: 'Install versions of core and adapter that belong together.',
  },
  SCHEMA_MISSING: {
    family: 'setup',
    retryable: 'no',
    meaning: 'The store has no Surety schema and the adapter may not make one.',
    remedy: 'Run the migrations with a role that may create the schema.',
  },
  SCHEMA_TOO_OLD: {
    family: 'setup',
    retryable: 'no',
    meaning: 'The schema of the store is older than this version needs.',
    remedy: 'Run the migrations, then start again.',
  },
  SCHEMA_TOO_NEW: {
    family: 'setup',
    retryable: 'no',
    meaning: 'The schema of the store was made by a newer version.',
    remedy: 'Update the Surety packages of this process.',
  },
  STORE_UNSUITABLE: {
    family: 'setup',
    retryable: 'no',
    meaning: 'The store is configured or built so that a promise cannot be kept.',
    remedy: 'Change the setting that the message names.',
  },
  STORE_CORRUPT: {
    family: 'setup',
    retryable: 'no',
    meaning: 'The store is damaged or is not a Surety store.',
    remedy: 'Restore a backup, or name another file.',
  },
  STORE_READ_ONLY: {
    family: 'setup',
    retryable: 'no',
    meaning: 'The store refuses to be written.',
    remedy: 'Give the process the right to write, or point it at the primary.',
  },
  CAPABILITY_MISSING: {
    family: 'capability',
    retryable: 'no',
    meaning: 'The backend does not offer what was asked of it.',
    remedy: 'Leave the option out, or choose a backend that offers it.',
  },
  LIMIT_EXCEEDED: {
    family: 'capability',
    retryable: 'no',
    meaning: 'A value lies beyond what the backend states it can do.',
    remedy: 'Stay within the limit that the message names.',
  },
  BACKEND_UNAVAILABLE: {
    family: 'backend',
    retryable: 'yes',
    meaning: 'The store cannot be reached; nothing was done.',
    remedy: 'Check that it runs and that the URL is right; then try again.',
  },
  BACKEND_TIMEOUT: {
    family: 'backend',
    retryable: 'yes',
    meaning:
      'The store did not answer in time. Where a job may have been stored the code is OUTCOME_UNKNOWN.',
    remedy: 'Try again; if it stays, look at the load of the store.',
  },
  BACKEND_OVERLOADED: {
    family: 'backend',
    retryable: 'yes',
    meaning: 'The store is busy, locked or short of a resource.',
    remedy: 'Try again later; if it stays, look at locks, disk and memory.',
  },
  STORE_FULL: {
    family: 'backend',
    retryable: 'yes',
    meaning: 'The store has no room left; nothing was stored.',
    remedy: 'Free disk space or memory.',
  },
  PERMISSION_DENIED: {
    family: 'backend',
    retryable: 'no',
    meaning: 'The store refused the credentials or a right.',
    remedy: 'Correct the credentials, or grant the right that the message names.',
  },
  BACKEND_CLOSED: {
    family: 'backend',
    retryable: 'no',
    meaning: 'The backend, client or worker was closed.',
    remedy: 'Make a new client, or start the worker again.',
  },
  CLIENT_OVERLOADED: {
    family: 'backend',
    retryable: 'yes',
    meaning: 'Too many enqueues wait in this process; this one was not sent.',
    remedy: 'Slow the producer down, or find out why the store is slow.',
  },
  QUEUE_FULL: {
    family: 'backend',
    retryable: 'yes',
    meaning: 'The queue has reached its maximum depth; nothing was stored.',
    remedy: 'Wait until workers have caught up, or raise the depth.',
  },
  OUTCOME_UNKNOWN: {
    family: 'uncertain',
    retryable: 'unknown',
    meaning: 'The answer was lost: the job may or may not be stored.',
    remedy: 'Enqueue again with the id that the error carries.',
  },
  DURABILITY_NOT_REACHED: {
    family: 'uncertain',
    retryable: 'unknown',
    meaning: 'Stored, but the asked level of durability was not confirmed in time.',
    remedy: 'Check the replicas; enqueue again with the same id.',
  },
  PAYLOAD_NOT_SUPPORTED: {
    family: 'data',
    retryable: 'no',
    meaning: 'The payload is not plain I-JSON.',
    remedy: 'Send only what JSON can hold: convert or drop the value that the message names.',
  },
  PAYLOAD_TOO_LARGE: {
    family: 'data',
    retryable: 'no',
    meaning: 'The job is larger than the limit.',
    remedy: 'Store the bulk elsewhere and send a reference.',
  },
  PAYLOAD_INVALID: {
    family: 'data',
    retryable: 'no',
    meaning: 'The payload does not fit the schema of its job.',
    remedy: 'Correct the input, or the schema.',
  },
  PAYLOAD_CORRUPT: {
    family: 'data',
    retryable: 'no',
    meaning: 'The stored payload cannot be parsed.',
    remedy: 'Find who wrote it; discard the dead letter.',
  },
  HANDLER_FAILED: {
    family: 'handler',
    retryable: 'yes',
    meaning: 'The handler threw.',
    remedy: 'See the error of the attempt.',
  },
  PERMANENT_FAILURE: {
    family: 'handler',
    retryable: 'no',
    meaning: 'The handler said that no retry can help.',
    remedy: 'See the error; redrive after the fix.',
  },
  TIMEOUT: {
    family: 'handler',
    retryable: 'yes',
    meaning: 'The handler ran longer than its timeout.',
    remedy: 'Make it faster, split it, or raise the timeout; let it listen to its signal.',
  },
  WORKER_LOST: {
    family: 'handler',
    retryable: 'no',
    meaning: 'The workers that held the job died or lost their leases until its attempts were spent.',
    remedy: 'Look for crashes and memory limits at the times of its attempts; redrive after the fix.',
  },
  INTERRUPTED_TOO_OFTEN: {
    family: 'handler',
    retryable: 'no',
    meaning: 'The job was stopped by orderly shutdowns more often than is allowed.',
    remedy: 'Split the job, or give the drain more time.',
  },
  UNKNOWN_TYPE: {
    family: 'handler',
    retryable: 'no',
    meaning: 'No worker of the queue had a handler for the type in 24 hours.',
    remedy: 'Deploy a worker with the handler, then redrive.',
  },
  EXPIRED: {
    family: 'handler',
    retryable: 'no',
    meaning: 'The job was not started before its expiry.',
    remedy: 'Add workers, or give the job more time.',
  },
  BURIED: {
    family: 'handler',
    retryable: 'no',
    meaning: 'The handler buried the job.',
    remedy: 'See the reason; redrive after the fix.',
  },
  ADAPTER_BROKE_CONTRACT: {
    family: 'bug',
    retryable: 'unknown',
    meaning: 'The adapter answered with what the contract rules out.',
    remedy: 'Report it with the message.',
  },
  INTERNAL: {
    family: 'bug',
    retryable: 'unknown',
    meaning: 'An error that no rule foresaw.',
    remedy: 'See the cause; report it when it is ours.',
  },
} as const;
Object.freeze(ERROR_CODES satisfies Readonly<Record<string, CodeFacts>>);
for (const facts of Object.values(ERROR_CODES)) Object.freeze(facts);

/** A code of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;
