import type { CallOptions } from '@surety/core/contract';
import type { SchemaState, StoreAddress } from '@surety/core/operator';
import { placeOf } from './address.ts';
import { areThere, make } from './make.ts';
import { definitionsOf, partsOf, sharedParts } from './parts.ts';
import { type Visit, visit } from './visit.ts';

/** The names and arguments of queues never change; others would get another number. */
const NEWEST = 1;

/** Whether all stands that the address names: the exchange that all queues share, and each queue with its delays. */
export function schemaOf(address: StoreAddress, options: CallOptions): Promise<SchemaState> {
  const place = placeOf(address);
  return visit(place, 'schema', options, async (guest) => {
    const missing = [];
    for (const parts of wanted(guest)) if (!(await areThere(guest, parts))) missing.push(parts);
    if (missing.length === 0) return { version: NEWEST, newest: NEWEST, script: '' };
    return { version: 0, newest: NEWEST, script: definitionsOf(missing, place.vhost) };
  });
}

export function migrate(address: StoreAddress, options: CallOptions): Promise<void> {
  return visit(placeOf(address), 'migrate', options, async (guest) => {
    await Promise.all(wanted(guest).map((parts) => make(guest, parts)));
  });
}

function wanted({ names, place }: Visit): ReturnType<typeof partsOf>[] {
  return [sharedParts(names), ...place.queues.map((queue) => partsOf(names, queue))];
}
