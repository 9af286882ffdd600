import { SuretyError } from '@surety/core/errors';
import { JSON_OPTION, STORE_OPTIONS } from '../arguments/store-options.ts';
import { flag } from '../arguments/values.ts';
import type { Command, Invocation } from '../command.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { type NamedStore, withNamedStore } from '../stores/open-store.ts';

/** `surety migrate`. */
export const migrate: Command = {
  name: 'migrate',
  summary: 'Makes the schema of the store, or brings it up to date',
  takes: '',
  words: { min: 0, max: 0 },
  options: {
    print: { type: 'boolean', help: 'change nothing: print what would be run, to be read or run by hand' },
    ...JSON_OPTION,
    ...STORE_OPTIONS,
  },
  details: [
    'The only command that makes anything in a store. Doing it twice is doing it once; several at once wait for each',
    'other. An application may do the same when it opens its backend.',
  ],
  examples: [
    ['surety migrate', 'in jobs.db of this folder, made if it is not there'],
    ['SURETY_URL=postgres://owner@db/app surety migrate', 'in the schema surety of a database'],
    ['surety migrate --print > surety.sql', 'for somebody who may run it'],
    [
      "surety migrate --url 'amqp://host?queues=mail' --print > queues.json",
      'for rabbitmqctl import_definitions',
    ],
  ],
  run: (invocation) => {
    if (flag(invocation.values, 'print') && flag(invocation.values, 'json'))
      throw new UsageError('--print and --json exclude each other.');
    return withNamedStore(invocation, (store) =>
      flag(invocation.values, 'print') ? print(store, invocation) : bring(store, invocation),
    );
  },
};

async function print({ operator, address, call }: NamedStore, { output }: Invocation): Promise<number> {
  const { script, version, newest } = await operator.schema(address, call);
  if (newest === 0) output.aside('surety: this store needs no schema, nothing to run.');
  else if (script === '') output.aside(`surety: up to date (version ${version}), nothing to run.`);
  else output.print(script);
  return EXIT.ok;
}

async function bring(
  { operator, address, shown, call }: NamedStore,
  { values, output }: Invocation,
): Promise<number> {
  const { version: from, newest } = await operator.schema(address, call);
  if (from > newest) {
    const what = `The schema has version ${from}; this version of the adapter knows ${newest}.`;
    throw new SuretyError('SCHEMA_TOO_NEW', what, { adapter: operator.adapter });
  }
  if (from < newest) await operator.migrate(address, call);
  const to = (await operator.schema(address, call)).version;
  if (flag(values, 'json')) output.json({ store: shown, from, to });
  else if (newest === 0) output.print(`${shown}: needs no schema, nothing to make`);
  else
    output.print(from === to ? `${shown}: up to date, version ${to}` : `${shown}: version ${from} to ${to}`);
  return EXIT.ok;
}
