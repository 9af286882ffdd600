import { readFileSync } from 'node:fs';

/** The version of the client library that this package has found. */
export function clientVersion(): string {
  const manifest = new URL('package.json', import.meta.resolve('amqplib'));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version;
}
