import { SuretyError } from '@surety/core/errors';
import type { Client } from '../client.ts';
import type { Call } from '../deadline.ts';
import { serverWord } from '../native-errors.ts';
import { allowed } from './read-server.ts';

/**
 * The client goes on in database 0 when the server refuses the one that was named: jobs would be where nobody looks for them.
 * Asked again, the server says so. Throws STORE_UNSUITABLE.
 */
export async function checkDatabase(client: Client, call: Call): Promise<void> {
  const { options } = client as unknown as { readonly options: { readonly db?: number } };
  const number = options.db ?? 0;
  if (number === 0) return;
  const outOfRange = (native: unknown): null => {
    if (serverWord(native) === 'DB') return null;
    throw native;
  };
  if ((await allowed(client.call('SELECT', number).catch(outOfRange), call)) !== null) return;
  throw new SuretyError('STORE_UNSUITABLE', `The server has no database ${number} for this user.`, {
    adapter: 'redis',
    operation: call.operation,
    remedy: 'Name one that it has (its setting "databases"), or none.',
  });
}
