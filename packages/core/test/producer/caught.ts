import { isSuretyError, type SuretyError } from '@surety/core';

/** The SuretyError that a call ends with; anything else fails the test. */
export async function caught(call: () => unknown): Promise<SuretyError> {
  try {
    await call();
  } catch (error) {
    if (isSuretyError(error)) return error;
    throw error;
  }
  throw new Error('The call was expected to fail.');
}
