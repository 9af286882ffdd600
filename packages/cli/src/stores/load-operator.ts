import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SuretyError } from '@surety/core/errors';
import type { StoreOperator } from '@surety/core/operator';
import { SCHEMES, type Scheme } from './schemes.ts';

/** Loads the adapter that a URL asks for. Throws OPTIONS_INVALID, in one line without the URL, which may hold a password. */
export async function loadOperator(url: string): Promise<StoreOperator> {
  const scheme = SCHEMES.find(({ prefixes }) => prefixes.some((prefix) => url.startsWith(prefix)));
  if (scheme === undefined) throw unknownScheme(url);
  try {
    return (await scheme.load()).operator;
  } catch (error) {
    if (!isMissing(error, scheme.package)) throw error;
    return await loadFromWorkingDirectory(scheme);
  }
}

/** `npx surety` may run from a cache of npm's, where the adapters of the project are not. */
async function loadFromWorkingDirectory(scheme: Scheme): Promise<StoreOperator> {
  const require = createRequire(join(process.cwd(), 'package.json'));
  let found: string;
  try {
    found = require.resolve(`${scheme.package}/operator`);
  } catch (cause) {
    const name = scheme.prefixes[0] ?? '';
    throw new SuretyError(
      'OPTIONS_INVALID',
      `A URL that begins with ${name} needs the package ${scheme.package}.`,
      {
        remedy: `Run: npm install ${scheme.package}`,
        cause,
      },
    );
  }
  const loaded = (await import(pathToFileURL(found).href)) as Awaited<ReturnType<Scheme['load']>>;
  return loaded.operator;
}

/** The package itself is missing, or is one from before it had an operator; not something that it needs in turn. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return true;
  return code === 'ERR_MODULE_NOT_FOUND' && String(message).includes(`'${name}'`);
}

function unknownScheme(url: string): SuretyError {
  const known = SCHEMES.flatMap(({ prefixes }) => prefixes).join(', ');
  const [scheme] = /^[a-z][a-z0-9+.-]{0,20}:/i.exec(url) ?? [];
  const what =
    scheme === undefined
      ? 'The URL of the store is none.'
      : `No store is known by URLs that begin with ${scheme}`;
  return new SuretyError('OPTIONS_INVALID', `${what.replace(/\.?$/, '.')}`, {
    remedy: `They begin with one of ${known}.`,
  });
}
