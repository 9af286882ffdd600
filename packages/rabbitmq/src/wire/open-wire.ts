import type { Socket } from 'node:net';
import { type Channel, type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { type Call, LATE, timedOut, within } from '../call.ts';
import type { ResolvedOptions } from '../options.ts';

/** One connection, from its opening to its end. */
export interface Wire {
  /** As the broker says it, like `3.10.8`. */
  readonly version: string;
  readonly isOpen: boolean;
  /** The broker has stopped reading from it: memory or disk alarm. Told only to connections that publish. */
  readonly isBlocked: boolean;
  /** Grows with all that arrives, heartbeats too. */
  readonly heardBytes: number;
  /** What is written to the channel meanwhile leaves at once, in as few packets as can be. */
  together<T>(channel: Channel, write: () => T): T;
  channel(): Promise<Channel>;
  confirmChannel(): Promise<ConfirmChannel>;
  /** Called once, when the connection has ended, with what ended it. */
  onEnd(listener: (reason: unknown) => void): void;
  /** In good order, or else by force at the deadline. */
  close(deadline: number): Promise<void>;
  /** At once. */
  destroy(reason: string): void;
}

/** Silence this short proves nothing. */
const SILENT_MS = 900;
/** Time for the last frames to leave, after which the socket may not keep the process alive. */
const LINGER_MS = 200;

/** How much may wait for the socket before amqplib pauses; an option of Node's that its types leave out. */
const WIDE: object = Object.freeze({ writableHighWaterMark: 1024 * 1024 });

/** Connects. Rejects with what amqplib or the system says. */
export async function openWire(address: string, options: ResolvedOptions, purpose: string): Promise<Wire> {
  const url = new URL(address);
  if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(options.heartbeatSeconds));
  const model = await connect(url.href, {
    // Without it each acknowledgement waits 40 ms for the one before (Nagle and delayed acknowledgements).
    noDelay: true,
    timeout: options.connectTimeoutMs,
    ...WIDE,
    clientProperties: { connection_name: `surety ${purpose}` },
  });
  return wireOf(model);
}

function wireOf(model: ChannelModel): Wire {
  // amqplib offers no way to end a connection whose peer has gone silent: its socket is needed for that.
  const { stream } = model.connection as unknown as { readonly stream: Socket };
  const listeners: ((reason: unknown) => void)[] = [];
  let isOpen = true;
  let isBlocked = false;
  let reason: unknown = null;
  model.on('error', (error) => {
    reason ??= error;
  });
  model.on('blocked', () => {
    isBlocked = true;
  });
  model.on('unblocked', () => {
    isBlocked = false;
  });
  model.on('close', (error) => {
    isOpen = false;
    reason ??= error ?? new Error('connection closed');
    // amqplib only half-closes: a peer that has gone silent would keep the socket, and the process, for long.
    setTimeout(() => stream.destroy(), LINGER_MS).unref();
    for (const listener of listeners.splice(0)) listener(reason);
  });
  stream.on('error', () => undefined);
  const destroy = (why: string): void => {
    if (!stream.destroyed) stream.destroy(new Error(`connection closed: ${why}`));
  };
  return {
    version: String(model.connection.serverProperties.version),
    get isOpen() {
      return isOpen;
    },
    get isBlocked() {
      return isBlocked;
    },
    get heardBytes() {
      return stream.bytesRead;
    },
    together(channel, write) {
      const frames = framesOf(channel);
      stream.cork();
      try {
        return write();
      } finally {
        if (frames === null) {
          // amqplib asks for its turn to write in the ticks that follow, and so comes before whoever asks behind them.
          process.nextTick(() => queueMicrotask(() => setImmediate(() => stream.uncork())));
        } else {
          for (let frame = frames.read(); frame !== null; frame = frames.read()) stream.write(frame);
          stream.uncork();
        }
      }
    },
    channel: async () => quiet(await model.createChannel()),
    confirmChannel: async () => quiet(await model.createConfirmChannel()),
    onEnd(listener) {
      if (isOpen) listeners.push(listener);
      else listener(reason);
    },
    async close(deadline) {
      if (!isOpen) return;
      const ended = await within(
        model.close().catch(() => undefined),
        deadline,
      );
      if (ended === LATE) destroy('it did not close in time');
    },
    destroy,
  };
}

/** What is used of amqplib beyond its interface. */
interface Inside {
  readonly ch: number;
  readonly connection: { readonly channels: readonly ({ readonly buffer: Frames } | null | undefined)[] };
}

interface Frames {
  read(): Buffer | null;
}

/**
 * The frames that were written to a channel and not yet to the socket. amqplib passes them on in the second turn of the event loop after, and a broker that has all
 * its jobs out waits as long for what makes room for the next. Null: amqplib is otherwise inside.
 */
function framesOf(channel: Channel): Frames | null {
  const { ch, connection } = channel as unknown as Partial<Inside>;
  const frames = ch === undefined ? undefined : connection?.channels?.[ch]?.buffer;
  return typeof frames?.read === 'function' ? frames : null;
}

/** A channel whose errors bring nothing down: whoever waits for its answers hears of them. */
function quiet<T extends Channel>(channel: T): T {
  channel.on('error', () => undefined);
  return channel;
}

/** Waits for an answer over a wire. One that stayed silent for all that time is not to be trusted any more. */
export async function answered<T>(wire: Wire, call: Call, work: Promise<T>): Promise<T> {
  const from = performance.now();
  const heard = wire.heardBytes;
  const answer = await within(work, call.deadline);
  if (answer !== LATE) return answer;
  work.catch(() => undefined);
  distrust(wire, heard, from);
  throw timedOut(call);
}

/** Ends a wire that has said nothing since `from`. */
export function distrust(wire: Wire, heard: number, from: number): void {
  if (performance.now() - from < SILENT_MS || wire.isBlocked || wire.heardBytes !== heard) return;
  wire.destroy('the broker is silent');
}

/** A channel for one purpose: what the broker refuses closes it, and takes nothing else along. */
export async function onChannel<T>(wire: Wire, use: (channel: Channel) => Promise<T>): Promise<T> {
  const channel = await wire.channel();
  try {
    return await use(channel);
  } finally {
    // Rejects where the broker has closed it.
    channel.close().catch(() => undefined);
  }
}
