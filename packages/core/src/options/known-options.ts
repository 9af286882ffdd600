import { SuretyError } from '../errors/index.ts';
import { shown } from './duration.ts';
import { isPlainObject } from './plain-object.ts';

/** Refuses what is no plain object and what has an unknown key: a misspelt option must not be ignored in silence. */
export function assertKnownOptions(
  where: string,
  value: unknown,
  known: readonly string[],
): asserts value is object {
  if (!isPlainObject(value)) {
    throw new SuretyError('OPTIONS_INVALID', `${where} takes an object of options, not ${shown(value)}.`);
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) {
      throw new SuretyError('OPTIONS_INVALID', `${where} has no option ${JSON.stringify(key)}.`, {
        remedy: `Known options: ${known.join(', ')}.`,
      });
    }
  }
}

/** A whole number within [min, max], or OPTIONS_INVALID naming the option. */
export function wholeNumber(option: string, value: unknown, min: number, max: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw new SuretyError(
      'OPTIONS_INVALID',
      `${option} must be a whole number from ${min} to ${max}, not ${shown(value)}.`,
    );
  }
  return value + 0;
}
