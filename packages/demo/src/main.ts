import { type Arguments, parseArguments } from './parse-arguments.ts';
import { runDemo } from './run-demo.ts';
import type { StoreName } from './stores.ts';

/** Each is loaded only when it is asked for. */
const PRIVATE_SERVERS: Readonly<
  Record<Exclude<StoreName, 'sqlite'>, () => Promise<AsyncDisposable & { readonly url: string }>>
> = {
  postgres: async () => (await import('./private-postgres.ts')).startPrivatePostgres(),
  redis: async () => (await import('./private-redis.ts')).startPrivateRedis(),
  rabbitmq: async () => (await import('./private-rabbitmq.ts')).startPrivateRabbitmq(),
  sqs: async () => (await import('./private-sqs.ts')).startPrivateSqs(),
};

process.exitCode = await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  const given = parseArguments(words);
  if (given.kind === 'help') console.log(given.text);
  if (given.kind === 'problem') console.error(given.text);
  if (given.kind !== 'run') return given.kind === 'help' ? 0 : 2;
  try {
    return await demo(given);
  } catch (error) {
    console.log(`The demo broke off: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

async function demo({ backend, address }: Arguments & { readonly kind: 'run' }): Promise<number> {
  const output = process.stdout;
  if (address !== null || backend === 'sqlite') return runDemo({ address, output });
  // A server that lives as long as the demo: for those who have this repository and no server at hand.
  await using server = await PRIVATE_SERVERS[backend]();
  return await runDemo({ address: { url: server.url, namespace: null }, passing: true, output });
}
