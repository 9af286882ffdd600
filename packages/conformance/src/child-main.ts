/**
 * Program of a child process: opens the store a second time, as another service would, and serves commands of the
 * suite over the line to its parent. It may be killed, frozen and thawed at any moment. It attaches no listener for
 * uncaught errors: an error that an adapter lets escape must end it, so that the suite sees it.
 */
import type { Backend } from '@surety/core/contract';

/** The first message. Not an argument: it may hold the password of a store, and arguments are seen by everybody on a machine. */
interface Start {
  readonly module: string;
  readonly args: unknown;
  readonly clockSkewMs: number;
}

interface Command {
  readonly id: number;
  readonly command: string;
  readonly args: never;
}

type Serve = (command: string, args: never) => Promise<unknown>;

let serving: Promise<Serve> | null = null;

// One listener from the beginning: while there is one, the line keeps the process.
process.on('message', (message: Start | Command) => {
  if ('module' in message) {
    // Its error answers every command, and ends the process where none waits.
    serving = begin(message);
    return;
  }
  const { id, command, args } = message;
  (serving ?? Promise.reject(new Error('Not started.')))
    .then((serve) => serve(command, args))
    .then(
      (result: unknown) => process.send?.({ answer: id, result }),
      (error: unknown) =>
        process.send?.({ answer: id, error: error instanceof Error ? error.message : String(error) }),
    );
});

async function begin(start: Start): Promise<Serve> {
  if (start.clockSkewMs !== 0) shiftClock(start.clockSkewMs);
  // Imported after the clock was shifted, so that no module can have kept the true one.
  const store = (await import(start.module)) as { connect(args: unknown): Backend | Promise<Backend> };
  const { serverOf } = await import('./stage/child-commands.ts');
  return serverOf(await store.connect(start.args), (event, ids) => void process.send?.({ event, ids }));
}

function shiftClock(ms: number): void {
  const Real = Date;
  class Shifted extends Real {
    constructor(...given: [] | [number | string | Date]) {
      super(given[0] ?? Real.now() + ms);
    }
    static override now(): number {
      return Real.now() + ms;
    }
  }
  globalThis.Date = Shifted as DateConstructor;
}
