import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';
import { freePort } from '../machine/free-port.ts';
import { carry, type OneWay } from './one-way.ts';
import { resetSocket } from './reset-socket.ts';

export interface ProxyTarget {
  readonly host: string;
  readonly port: number;
}

/**
 * A network between a client and a server that can be made to fail. Modes add up and last until `heal`. Whatever
 * happens, the bytes of a connection stay in order.
 */
export interface TcpProxy {
  readonly host: string;
  readonly port: number;
  /** Connections of now that their client has not ended. */
  readonly connectionCount: number;
  /** Resets all connections of now, to both sides; new ones are served. */
  cut(): void;
  /**
   * Silence: nothing passes in either direction, neither bytes nor the news that a side has gone. `existing`: on the
   * connections of now; `all`: on new ones too, which are accepted but do not reach the server. What was held back
   * passes after `heal`, as TCP would send it again.
   */
  blackhole(mode: 'existing' | 'all'): void;
  /** Every chunk takes this much longer in each direction; 0 ends it at once. */
  delay(ms: number): void;
  /**
   * What the client says reaches the server, which acts on it; what the server says is lost. A connection that lost
   * something this way cannot go on, so `heal` resets it.
   */
  dropReplies(): void;
  /** New connections are refused, those of now go on. */
  refuse(): Promise<void>;
  /** New connections lead to another server, as after a failover; those of now stay where they are. */
  redirect(target: ProxyTarget): void;
  /** Ends all modes. */
  heal(): Promise<void>;
  /** Resets all connections and stops listening. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly toServer: OneWay;
  readonly toClient: OneWay;
  held: boolean;
  /** Whether the server has heard of this connection. */
  reached: boolean;
}

/** Listens on 127.0.0.1 and forwards to `first`. */
export async function startTcpProxy(first: ProxyTarget): Promise<TcpProxy> {
  let target = first;
  const links = new Set<Link>();
  const weather = { holdNew: false, swallowReplies: false, delayMs: 0 };
  const port = await freePort();
  let listener: Server | undefined = await listen();

  async function listen(): Promise<Server> {
    // Half-open: each direction ends when its own side says so.
    const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    // Out of file descriptors, for one; the client sees that its connection fails.
    server.on('error', () => undefined);
    return server;
  }

  function accept(client: Socket): void {
    const upstream = new Socket({ allowHalfOpen: true });
    const link: Link = {
      client,
      upstream,
      held: weather.holdNew,
      toServer: carry(client, upstream, () => ({
        held: link.held,
        swallow: false,
        delayMs: weather.delayMs,
      })),
      toClient: carry(upstream, client, () => ({
        held: link.held,
        swallow: weather.swallowReplies,
        delayMs: weather.delayMs,
      })),
      reached: false,
    };
    links.add(link);
    // An error is always followed by 'close', which is what is acted on.
    client.on('error', () => undefined);
    upstream.on('error', () => undefined);
    client.on('close', () => forgetWhenOver(link));
    upstream.on('close', () => forgetWhenOver(link));
    if (!link.held) reach(link);
  }

  function reach(link: Link): void {
    if (link.reached) return;
    link.reached = true;
    link.upstream.setNoDelay(true).connect({ host: target.host, port: target.port });
  }

  function forgetWhenOver(link: Link): void {
    if (link.client.destroyed && link.upstream.destroyed) links.delete(link);
  }

  function reset(link: Link): void {
    link.toServer.discard();
    link.toClient.discard();
    resetSocket(link.client);
    resetSocket(link.upstream);
    links.delete(link);
  }

  async function stopListening(): Promise<void> {
    const server = listener;
    listener = undefined;
    // Not its callback: that waits for the connections to end, and these go on.
    server?.close();
    await new Promise((resolve) => setImmediate(resolve));
  }

  function wakeAll(): void {
    for (const link of links) {
      link.toServer.wake();
      link.toClient.wake();
    }
  }

  const proxy: TcpProxy = {
    host: '127.0.0.1',
    port,
    get connectionCount() {
      return [...links].filter((link) => !link.client.destroyed && !link.client.readableEnded).length;
    },
    cut() {
      for (const link of links) reset(link);
    },
    blackhole(mode) {
      for (const link of links) link.held = true;
      weather.holdNew ||= mode === 'all';
    },
    delay(ms) {
      weather.delayMs = ms;
      wakeAll();
    },
    dropReplies() {
      weather.swallowReplies = true;
    },
    refuse: stopListening,
    redirect(next) {
      target = next;
    },
    async heal() {
      weather.holdNew = false;
      weather.swallowReplies = false;
      weather.delayMs = 0;
      for (const link of links) {
        link.held = false;
        // A client that gave up before the server heard of it would, on a real network, never have reached it.
        const givenUp = !link.reached && link.client.readableEnded;
        if (link.toClient.damaged || link.client.destroyed || givenUp) reset(link);
        else reach(link);
      }
      wakeAll();
      listener ??= await listen();
    },
    async close() {
      proxy.cut();
      await stopListening();
    },
    async [Symbol.asyncDispose]() {
      await proxy.close();
    },
  };
  return proxy;
}
