import { SuretyError } from '@surety/core/errors';
import type { StoreAddress } from '@surety/core/operator';
import { ADAPTER } from '../call.ts';
import { type ResolvedOptions, resolveOptions, type SqsOptions } from '../options.ts';

const FORM = 'sqs:REGION, sqs:REGION?queues=NAME,NAME or sqs:REGION?endpoint=URL';
const PARAMETERS: readonly string[] = ['endpoint', 'queues'];
/** An emulator on this machine asks for keys and takes any. */
const ANY_KEYS = { accessKeyId: 'local', secretAccessKey: 'local' };

/** Options of the adapter for an address. Throws OPTIONS_INVALID. */
export function optionsOf({ url, namespace }: StoreAddress): SqsOptions {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed?.protocol !== 'sqs:' || parsed.host !== '') throw noAddress('is none');
  for (const name of parsed.searchParams.keys()) {
    if (!PARAMETERS.includes(name)) throw noAddress(`has a parameter "${name}"`);
  }
  const endpoint = parsed.searchParams.get('endpoint');
  const queues = (parsed.searchParams.get('queues') ?? '').split(',').filter((name) => name !== '');
  const options: SqsOptions = {
    region: parsed.pathname,
    queues,
    ...(endpoint !== null && { endpoint }),
    ...(isHere(endpoint) && process.env['AWS_ACCESS_KEY_ID'] === undefined && { credentials: ANY_KEYS }),
    ...(namespace !== null && { prefix: namespace }),
  };
  resolveOptions(options);
  return options;
}

/** The same, checked and complete; nothing is made. */
export function lookingOptions(address: StoreAddress): ResolvedOptions {
  return resolveOptions({ ...optionsOf(address), create: false });
}

export function describe(address: StoreAddress): string {
  const { region, endpoint, prefix } = lookingOptions(address);
  const at = endpoint === null ? '' : ` at ${new URL(endpoint).host}`;
  return `sqs:${region}${at} (prefix ${prefix})`;
}

function isHere(endpoint: string | null): boolean {
  if (endpoint === null || !URL.canParse(endpoint)) return false;
  return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(endpoint).hostname);
}

function noAddress(why: string): SuretyError {
  return new SuretyError('OPTIONS_INVALID', `An address of SQS was expected; this ${why}.`, {
    adapter: ADAPTER,
    remedy: `Write it as ${FORM}.`,
  });
}
