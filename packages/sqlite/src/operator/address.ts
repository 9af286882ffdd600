import { SuretyError } from '@surety/core/errors';
import type { StoreAddress } from '@surety/core/operator';
import { ADAPTER } from '../native-errors.ts';
import { resolveOptions } from '../options.ts';

/** `sqlite:jobs.db`, `sqlite:/var/lib/app/jobs.db`; `sqlite://...` means the same. The path is taken as it is written. */
const WRITTEN = /^sqlite:(?:\/\/)?(.+)$/s;

/** The absolute path of the file. Throws OPTIONS_INVALID. */
export function fileOf({ url, namespace }: StoreAddress): string {
  const path = WRITTEN.exec(url)?.[1];
  if (path === undefined) throw invalid('The address of a SQLite store is sqlite: and the path of its file.');
  if (namespace !== null) throw invalid('A SQLite file has no namespaces.');
  return resolveOptions(path).file;
}

function invalid(what: string): SuretyError {
  return new SuretyError('OPTIONS_INVALID', what, { adapter: ADAPTER });
}
