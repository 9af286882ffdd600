import type { Backend, CallOptions } from '@surety/core/contract';
import type { StoreAddress, StoreOperator } from '@surety/core/operator';
import { duration, text } from '../arguments/values.ts';
import type { Invocation } from '../command.ts';
import { UsageError } from '../exit-codes.ts';
import { loadOperator } from './load-operator.ts';

/** Where jobs are when nobody says. */
const DEFAULT_URL = 'sqlite:jobs.db';
const DEFAULT_TIMEOUT_MS = 10_000;
const CLOSE_MS = 2000;

/** A store that was named, not opened. */
export interface NamedStore {
  readonly operator: StoreOperator;
  readonly address: StoreAddress;
  /** For people; without anything secret. */
  readonly shown: string;
  readonly call: CallOptions;
}

/** A store that is open. */
export interface OpenStore extends NamedStore {
  readonly backend: Backend;
}

/** What went wrong with a store, and with which: for the one line of the error. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly shown: string;
  /** The store is the one that is taken when nobody names any. */
  readonly byDefault: boolean;

  constructor(shown: string, byDefault: boolean, cause: unknown) {
    super('The store failed.', { cause });
    this.shown = shown;
    this.byDefault = byDefault;
  }
}

/** The URL that was given, or that the environment gives; null: none. */
function givenUrl(values: Invocation['values']): string | null {
  const url = text(values, 'url');
  if (url === '') throw new UsageError('--url is empty.');
  return url ?? (process.env['SURETY_URL'] || null);
}

/** Loads the adapter and hands over the store, not opened. Errors that come out of `use` are told with the store's name. */
export async function withNamedStore<T>(
  { values }: Pick<Invocation, 'values'>,
  use: (store: NamedStore) => Promise<T>,
): Promise<T> {
  const given = givenUrl(values);
  const address = { url: given ?? DEFAULT_URL, namespace: text(values, 'namespace') };
  const call = { timeoutMs: duration(values, 'timeout', DEFAULT_TIMEOUT_MS) };
  const operator = await loadOperator(address.url);
  const shown = operator.describe(address);
  try {
    return await use({ operator, address, shown, call });
  } catch (error) {
    throw error instanceof UsageError ? error : new StoreError(shown, given === null, error);
  }
}

/** Opens the store, lets `use` work with it and closes it. Never makes a schema. */
export function withStore<T>(
  invocation: Pick<Invocation, 'values'>,
  use: (store: OpenStore) => Promise<T>,
): Promise<T> {
  return withNamedStore(invocation, async (store) => {
    const backend = store.operator.backend(store.address);
    try {
      await backend.open({ ...store.call, notify: () => undefined });
      return await use({ ...store, backend });
    } finally {
      await backend.close({ graceMs: CLOSE_MS });
    }
  });
}
