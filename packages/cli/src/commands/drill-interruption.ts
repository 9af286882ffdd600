import type { Output } from '../terminal/output.ts';

/** Ctrl-C, or a request to end, while drills run. */
export interface Interruption extends AsyncDisposable {
  /** Aborts at the first one; a second one ends the process as it always would. */
  readonly signal: AbortSignal;
  readonly exitCode: number;
}

/** Listens until it is disposed of. */
export function removeOnSignal(output: Output): Interruption {
  const controller = new AbortController();
  let exitCode = 0;
  const leave = (signal: NodeJS.Signals): void => {
    stop();
    exitCode = signal === 'SIGINT' ? 130 : 143;
    output.aside(`${signal}: cleaning up.`);
    controller.abort(new Error(`interrupted by ${signal}`));
  };
  const stop = (): void => void process.off('SIGINT', leave).off('SIGTERM', leave);
  process.on('SIGINT', leave).on('SIGTERM', leave);
  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    [Symbol.asyncDispose]: async () => stop(),
  };
}
