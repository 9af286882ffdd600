import { readFileSync } from 'node:fs';
import type { Backend } from '@surety/core/contract';
import type { RabbitmqServer, SqsFaults, SqsServer } from '@surety/testbed';
import type { AdapterOptions } from '../private/connect.ts';
import { privatePlace } from '../private/places.ts';
import { WEATHER } from '../private/sqs-place.ts';
import { type Connect, connectTo, type Place, type Road, type ServerControl } from '../stage/place.ts';
import { type Held, heldBy } from './leftovers.ts';

/** A service that misbehaves by itself as it is told. */
interface MoodyService {
  /** In force until the next call; null: as on any day. */
  set(faults: Partial<SqsFaults> | null): Promise<void>;
  /** Bodies of the messages that it has doubled, or whose sending it has not answered, since the last call. */
  takeCopied(): Promise<readonly string[]>;
}

/** A store and all that a soak may do to it and ask of it. */
export interface SoakPlace extends AsyncDisposable {
  readonly backend: string;
  readonly where: string;
  /** A backend, not opened. */
  open(): Promise<Backend>;
  readonly server: ServerControl | null;
  readonly road: (() => Promise<Road>) | null;
  readonly service: MoodyService | null;
  /** Connections that the server has; null: there is no server. */
  readonly connections: (() => number) | null;
  readonly held: (() => Promise<Held>) | null;
}

/** The same, for processes of their own. */
export interface ForkPlace extends SoakPlace {
  readonly connect: Connect;
}

/** What servers of the testbed can beside. */
type OwnServer = ServerControl & Partial<SqsServer> & Partial<Pick<RabbitmqServer, 'control'>>;

/** A place on a server that is started now and ends with it. */
export async function soakPlace(backend: string, seed: number): Promise<ForkPlace> {
  const place = await privatePlace(backend, seed);
  const server = place.server as OwnServer | null;
  const port = server?.port;
  const options = place.connect.args as AdapterOptions;
  return {
    backend,
    where: place.where,
    connect: place.connect,
    open: () => connectTo(place.connect),
    server,
    road: place.road,
    service: server?.setFaults === undefined ? null : moody(server as OwnServer & SqsServer, seed),
    connections: port === undefined ? null : () => connectionsAt(port),
    held: () => heldBy(options, server),
    [Symbol.asyncDispose]: (): PromiseLike<void> => (place satisfies Place)[Symbol.asyncDispose](),
  };
}

const COPYING: readonly string[] = ['duplicate', 'came-back'];

function moody(server: SqsServer, seed: number): MoodyService {
  let read = 0;
  return {
    async set(faults) {
      await server.setFaults({ ...WEATHER, seed, ...faults });
      if (faults !== null) read = (await server.faultLog()).length;
    },
    async takeCopied() {
      const log = await server.faultLog();
      const fresh = log.slice(read);
      read = log.length;
      return fresh.flatMap(({ kind, action, bodies }) =>
        COPYING.includes(kind) || (kind === 'lost-answer' && action.startsWith('SendMessage')) ? bodies : [],
      );
    },
  };
}

const ESTABLISHED = '01';

/** Connections whose server side is this port, from the kernel's own list. */
function connectionsAt(port: number): number {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap(linesOf).filter((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/);
    return state === ESTABLISHED && local.endsWith(`:${wanted}`);
  }).length;
}

/** Other systems than Linux have no such list; there nothing is counted. */
function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
