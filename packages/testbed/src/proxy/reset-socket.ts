import type { Socket } from 'node:net';

/**
 * Ends a connection at once, with a reset where that is possible. Once the end of our side was sent it is not: libuv refuses a reset
 * beside a shutdown under way, and Node then waits for that shutdown for ever, spinning, when the process ends.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
