import { randomBytes } from 'node:crypto';
import type { StoreAddress, Trial, TrialTransaction } from '@surety/core/operator';
import pg from 'pg';
import { createBackend } from '../backend.ts';
import { fromNative } from '../native-errors.ts';
import { type PostgresOptions, resolveOptions } from '../options.ts';
import { bindSchema } from '../sql.ts';
import { findPooler } from './check-pooler.ts';
import { pgVersion } from './client-version.ts';
import { visit } from './look.ts';

/** Begin of the names of schemas for trials. */
export const TRIAL_SCHEMA = 'surety_verify_';
/** Nobody listens on port 1, and asking needs no rights. */
const NOBODY = 'postgres://nobody@127.0.0.1:1/nothing';
/** The last sessions of the trial may still be ending, and the drop waits for their locks. */
const DROP_WITHIN_MS = 30_000;

/** A schema of its own in the same database, made at once, so that a role that may not make one is found out now. */
export async function openTrial(address: StoreAddress, timeoutMs: number): Promise<Trial> {
  const schema = `${TRIAL_SCHEMA}${randomBytes(4).toString('hex')}`;
  const place = { url: address.url, namespace: schema };
  const { listen, version } = await visit(place, 'trial', timeoutMs, async ({ connections, call }) => {
    const pooler = await findPooler(connections, call);
    await connections.ask(bindSchema('create schema {schema}', schema), [], call);
    const { rows } = await connections.ask("select current_setting('server_version') as version", [], call);
    return { listen: pooler === 'none', version: String(rows[0]?.['version']) };
  });
  const options: PostgresOptions = { url: address.url, schema, listen };
  return {
    where: `the schema ${schema}`,
    serverless: false,
    versions: {
      server: `PostgreSQL ${version}`,
      client: `pg ${pgVersion()}`,
      ...(listen ? {} : { pooler: 'yes' }),
    },
    backend: () => createBackend(resolveOptions(options)),
    unreachable: () => createBackend(resolveOptions({ ...options, url: NOBODY })),
    connect: { module: trialModule(), args: options },
    transaction: () => begin(address.url),
    [Symbol.asyncDispose]: () => drop(place),
  };
}

async function drop(place: StoreAddress & { readonly namespace: string }): Promise<void> {
  await visit(place, 'trial', DROP_WITHIN_MS, ({ connections, call }) =>
    connections.ask(bindSchema('drop schema if exists {schema} cascade', place.namespace), [], call),
  );
}

/** Keeps the ending of this module: `.ts` from source, `.js` when built. */
function trialModule(): string {
  return new URL(`./connect${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href;
}

async function begin(url: string): Promise<TrialTransaction> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // Its death reaches whoever asks it next; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('begin');
  } catch (native) {
    await client.end().catch(() => undefined);
    throw fromNative(native, 'trial');
  }
  const end = async (word: 'commit' | 'rollback'): Promise<void> => {
    await client.query(word);
    await client.end();
  };
  return { tx: client, commit: () => end('commit'), rollback: () => end('rollback') };
}
