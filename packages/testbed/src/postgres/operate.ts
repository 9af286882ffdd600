import { openAccess } from './databases.ts';
import type { PostgresServer } from './postgres-server.ts';
import type { RunningServer } from './server-control.ts';

type State = 'running' | 'paused' | 'down' | 'destroyed';

/** Puts order on the operations of a server: one at a time, and only those that its state allows. */
export function operate({ control, urls, version }: RunningServer): PostgresServer {
  const access = openAccess(urls, version);
  const made = new Set<string>();
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
      if (state === 'destroyed') throw new Error('this PostgreSQL server has been destroyed');
      await operation();
    });

  const start = async (): Promise<void> => {
    if (state === 'running' && control.can.restart) return;
    if (state === 'paused')
      throw new Error('this PostgreSQL server is paused: resume it instead of starting it');
    await control.start();
    state = 'running';
  };
  const resume = async (): Promise<void> => {
    if (state !== 'paused' && control.can.pause) return;
    await control.resume();
    state = 'running';
  };
  const stop = async (): Promise<void> => {
    if (state === 'down') return;
    // A frozen process cannot end in good order.
    if (state === 'paused') await resume();
    await control.stop();
    state = 'down';
  };
  const destroy = async (): Promise<void> => {
    if (state === 'destroyed') return;
    if (control.kind === 'external') {
      for (const url of made) await access.dropDatabase(url);
    }
    await control.remove();
    state = 'destroyed';
  };

  return {
    ...access,
    kind: control.kind,
    can: control.can,
    async createDatabase(name) {
      const url = await access.createDatabase(name);
      made.add(url);
      return url;
    },
    start: () => inTurn(start),
    stop: () => inTurn(stop),
    restart: () =>
      inTurn(async () => {
        await stop();
        await start();
      }),
    kill: () =>
      inTurn(async () => {
        if (state === 'down') return;
        await control.kill();
        state = 'down';
      }),
    pause: () =>
      inTurn(async () => {
        if (state === 'paused') return;
        if (state === 'down') throw new Error('this PostgreSQL server is down: there is nothing to pause');
        await control.pause();
        state = 'paused';
      }),
    resume: () => inTurn(resume),
    destroy: () => afterTheLast(destroy),
    [Symbol.asyncDispose]: () => afterTheLast(destroy),
  };
}
