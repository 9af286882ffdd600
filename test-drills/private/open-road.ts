import { type ProxyTarget, startTcpProxy } from '@surety/testbed';
import type { Connect, Road } from '../stage/place.ts';

/** A proxy before a server. `via` says how a backend finds it. */
export async function openRoad(
  target: ProxyTarget,
  via: (host: string, port: number) => Connect,
): Promise<Road> {
  const proxy = await startTcpProxy(target);
  return {
    connect: via(proxy.host, proxy.port),
    cut: () => proxy.cut(),
    blackhole: (mode) => proxy.blackhole(mode),
    slow: (ms) => proxy.delay(ms),
    dropAnswers: () => proxy.dropReplies(),
    heal: () => proxy.heal(),
    [Symbol.asyncDispose]: () => proxy.close(),
  };
}

/** The same URL with another host and port. */
export function through(url: string, host: string, port: number): string {
  const changed = new URL(url);
  changed.hostname = host;
  changed.port = String(port);
  return changed.href;
}
