import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the range from which Linux (32768 up) and macOS (49152 up) take the local ports of outgoing connections. A port
 * from that range can be taken by any client while a stopped server is not listening on it; worse, a client that keeps
 * reconnecting to it will sooner or later be given that very port and connect to itself, and the server can then
 * never come back.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** A TCP port of 127.0.0.1 on which nothing listens now, and which no outgoing connection will occupy later. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await canListen(port)) return port;
  }
  throw new Error(`no free port found on 127.0.0.1 between ${LOWEST} and ${HIGHEST} in 100 tries`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
