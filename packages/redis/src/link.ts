import { type Client, cutOff } from './client.ts';
import { LATE, within } from './deadline.ts';

/** One connection, made when it is needed and made anew when it has ended or fallen silent. */
export interface Link {
  /** The client, when it is connected now: the fast road. */
  usable(): Client | null;
  /** A connected client. Rejects with the native reason when none can be had in time. Several callers share one attempt. */
  ready(deadline: number): Promise<Client>;
  /** Ends this client; the next caller gets a new one. */
  drop(client: Client): void;
  close(): void;
}

/** The time was over before a connection was made. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';
}

export function createLink(make: () => Client, connectTimeoutMs: number): Link {
  let current: Client | null = null;
  let connecting: Promise<Client> | null = null;
  let closed = false;
  const made = new Set<Client>();

  function discard(client: Client): void {
    if (current === client) current = null;
    made.delete(client);
    cutOff(client);
  }

  async function connect(): Promise<Client> {
    const client = make();
    made.add(client);
    let reason: unknown = null;
    // Also later: an error event without a listener is printed by the client.
    client.on('error', (error) => {
      reason = error;
    });
    try {
      const done = await within(client.connect(), performance.now() + connectTimeoutMs);
      if (done === LATE) throw new NotConnected('The connection was not made in time.');
      if (closed) throw new NotConnected('The connection was closed.');
      current = client;
      return client;
    } catch (error) {
      discard(client);
      throw reason ?? error;
    }
  }

  function connectOnce(): Promise<Client> {
    if (connecting !== null) return connecting;
    const attempt = connect();
    connecting = attempt;
    const forget = (): void => {
      if (connecting === attempt) connecting = null;
    };
    attempt.then(forget, forget);
    return attempt;
  }

  const usable = (): Client | null => (current?.status === 'ready' ? current : null);

  return {
    usable,
    async ready(deadline) {
      const known = usable();
      if (known !== null) return known;
      if (closed) throw new NotConnected('The connection was closed.');
      if (current !== null && connecting === null) discard(current);
      const client = await within(connectOnce(), deadline);
      if (client === LATE) throw new NotConnected('The connection was not made in time.');
      return client;
    },
    drop: discard,
    close() {
      closed = true;
      for (const client of made) discard(client);
    },
  };
}
