import type { RedisProcess } from './redis-process.ts';
import type { RedisServer } from './redis-server.ts';

type State = 'running' | 'paused' | 'down' | 'destroyed';

/** Puts order on the operations of a server: one at a time, and only those that its state allows. */
export function operateRedis(server: RedisProcess): RedisServer {
  let state: State = 'running';
  let last: Promise<unknown> = Promise.resolve();

  const afterTheLast = (operation: () => Promise<void>): Promise<void> => {
    const turn = last.then(operation);
    // A failure is for its caller; the next operation only waits.
    last = turn.catch(() => undefined);
    return turn;
  };
  const inTurn = (operation: () => Promise<void>): Promise<void> =>
    afterTheLast(async () => {
      if (state === 'destroyed') throw new Error('this Redis server has been destroyed');
      await operation();
    });

  const start = async (): Promise<void> => {
    if (state === 'running') return;
    if (state === 'paused') throw new Error('this Redis server is paused: resume it instead of starting it');
    await server.start();
    state = 'running';
  };
  const stop = async (): Promise<void> => {
    if (state === 'down') return;
    // A frozen process cannot end in good order.
    server.resume();
    await server.stop();
    state = 'down';
  };
  const destroy = async (): Promise<void> => {
    if (state === 'destroyed') return;
    await server.remove();
    state = 'destroyed';
  };

  return {
    ...server.access,
    start: () => inTurn(start),
    stop: () => inTurn(stop),
    restart: () =>
      inTurn(async () => {
        await stop();
        await start();
      }),
    kill: () =>
      inTurn(async () => {
        await server.kill();
        state = 'down';
      }),
    pause: () =>
      inTurn(async () => {
        if (state === 'down') throw new Error('this Redis server is down: there is nothing to pause');
        server.pause();
        state = 'paused';
      }),
    resume: () =>
      inTurn(async () => {
        if (state !== 'paused') return;
        server.resume();
        state = 'running';
      }),
    destroy: () => afterTheLast(destroy),
    [Symbol.asyncDispose]: () => afterTheLast(destroy),
  };
}
