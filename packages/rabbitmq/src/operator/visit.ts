import type { CallOptions } from '@surety/core/contract';
import { type Call, failure, LATE, startCall, timedOut, within } from '../call.ts';
import { type Names, namesOf } from '../names.ts';
import { fromNative, replyCode } from '../native-errors.ts';
import { answered, onChannel, openWire, type Wire } from '../wire/open-wire.ts';
import { isTooOld } from '../wire/version.ts';
import type { Place } from './address.ts';

/** A connection for one visit. */
export interface Visit {
  readonly wire: Wire;
  readonly names: Names;
  readonly place: Place;
  readonly call: Call;
}

const FAREWELL_MS = 1000;

/** Connects, lets `use` work within the time of the call, and closes. Makes nothing by itself. */
export async function visit<T>(
  place: Place,
  operation: string,
  options: CallOptions,
  use: (visit: Visit) => Promise<T>,
): Promise<T> {
  const call = startCall(operation, options);
  let wire: Wire | null = null;
  try {
    wire = await connected(place, call);
    if (isTooOld(wire)) {
      const what = `RabbitMQ is of version ${wire.version}; 3.10 or later is needed.`;
      throw failure('STORE_UNSUITABLE', what, operation, { remedy: 'Update the broker.' });
    }
    return await use({ wire, names: namesOf(place.resolved.prefix), place, call });
  } catch (native) {
    throw fromNative(native, operation);
  } finally {
    await wire?.close(performance.now() + FAREWELL_MS);
  }
}

/** One more connection of the same visit. */
export async function connected({ resolved }: Place, call: Call): Promise<Wire> {
  const opening = openWire(resolved.urls[0] ?? '', resolved, 'operator');
  const wire = await within(opening, call.deadline);
  if (wire !== LATE) return wire;
  opening.then(
    (late) => late.destroy('it came too late'),
    () => undefined,
  );
  throw timedOut(call);
}

/** Whether something of this name is there. */
export async function exists(
  { wire, call }: Visit,
  kind: 'queue' | 'exchange',
  name: string,
): Promise<boolean> {
  try {
    const asking = onChannel<unknown>(wire, (channel) =>
      kind === 'queue' ? channel.checkQueue(name) : channel.checkExchange(name),
    );
    await answered(wire, call, asking);
    return true;
  } catch (native) {
    if (replyCode(native) === 404) return false;
    throw native;
  }
}
