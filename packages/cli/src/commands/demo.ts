import { SuretyError } from '@surety/core/errors';
import type * as published from '@surety/demo';
import { STORE_OPTIONS } from '../arguments/store-options.ts';
import { text } from '../arguments/values.ts';
import type { Command } from '../command.ts';
import { withStore } from '../stores/open-store.ts';

type Demo = typeof published;

/** `surety demo`. */
export const demo: Command = {
  name: 'demo',
  summary: 'Shows it: 329 real webhooks, worker processes, one of them killed, and an account that adds up',
  takes: '',
  words: { min: 0, max: 0 },
  options: {
    ...STORE_OPTIONS,
    url: { type: 'string', value: 'URL', help: 'a store with a schema; SURETY_URL does not count here' },
  },
  details: [
    'Takes a quarter of a minute. Without --url the jobs are in a new SQLite file in the folder surety-demo of the',
    'working directory; with it, in a queue of their own of that store. What is left is there to look into. Exit code 1:',
    'the account does not add up.',
  ],
  examples: [
    ['surety demo', 'on SQLite, in this folder'],
    ['surety demo --url postgres://app@localhost/app', 'on a database, after: surety migrate'],
  ],
  run: async (invocation) => {
    const url = text(invocation.values, 'url');
    if (url === null) return (await load()).runDemo({ address: null, output: invocation.output.stream });
    const address = { url, namespace: text(invocation.values, 'namespace') };
    // Says in one line what the demo's processes would say in their logs.
    await withStore(invocation, async () => undefined);
    return (await load()).runDemo({ address, output: invocation.output.stream });
  },
};

async function load(): Promise<Demo> {
  try {
    return await import('@surety/demo');
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new SuretyError('OPTIONS_INVALID', 'The demo is a package of its own, which is not installed.', {
      remedy: 'Run: npm install @surety/demo',
      cause,
    });
  }
}
