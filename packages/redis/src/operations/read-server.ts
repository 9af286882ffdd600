import { SuretyError } from '@surety/core/errors';
import { type Call, LATE, within } from '../deadline.ts';
import { fromNative, serverWord } from '../native-errors.ts';

/** The first version of Redis that has all that the scripts use. */
export const OLDEST: readonly [number, number] = [7, 0];

/** The answer, or null when the server does not allow the question, as managed services do. */
export async function allowed<T>(asking: Promise<T>, call: Call): Promise<T | null> {
  try {
    const answer = await within(asking, call.deadline);
    if (answer === LATE)
      throw new SuretyError('BACKEND_TIMEOUT', 'Redis did not answer in time.', {
        adapter: 'redis',
        operation: call.operation,
      });
    return answer;
  } catch (native) {
    if (native instanceof SuretyError) throw native;
    const word = serverWord(native);
    if (word === 'NOPERM' || word === 'ERR') return null;
    throw fromNative(native, call.operation);
  }
}

/** What INFO tells, by name. */
export function parseInfo(text: string): Map<string, string> {
  const lines = text.split('\r\n').flatMap((line) => {
    const at = line.indexOf(':');
    return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
  });
  return new Map(lines);
}

/** Names and values in turn, or an object, by the protocol that the client speaks. */
export function parseConfig(answer: unknown): Map<string, string> {
  if (Array.isArray(answer)) {
    const pairs = (answer as unknown[]).flatMap((name, at) =>
      at % 2 === 0 ? [[String(name), String(answer[at + 1])] as const] : [],
    );
    return new Map(pairs);
  }
  if (typeof answer !== 'object' || answer === null) return new Map();
  return new Map(Object.entries(answer).map(([name, value]) => [name, String(value)] as const));
}

/** Valkey tells as `redis_version` which one it is compatible with. */
export function isBefore(version: string, [major, minor]: readonly [number, number]): boolean {
  const [found = 0, second = 0] = version.split('.').map(Number);
  return found < major || (found === major && second < minor);
}
