import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

export interface Watchdog {
  /** The thing watched over was removed in good order: the watchdog ends and does nothing. */
  dismiss(): void;
}

/**
 * Runs `cleanup` (a shell script; `args` are its $1, $2, ...) as soon as this process is gone, however it went: it holds
 * one end of a pipe, and the kernel closes that when the process ends, by SIGKILL too. Unlike polling a pid, this cannot
 * take another process for the one that died.
 */
export function startWatchdog(cleanup: string, args: readonly string[]): Watchdog {
  const script = `trap '' HUP INT TERM\nread -r word\n[ "$word" = done ] && exit 0\n${cleanup}`;
  const child = spawn('/bin/sh', ['-c', script, 'surety-testbed-watchdog', ...args], {
    // Its own session, so that Ctrl-C in a terminal or a CI runner ending the test's group does not take it along.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  });
  // A watchdog must neither keep the process alive nor bring it down.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  (child.stdin as Socket).unref();
  return {
    dismiss() {
      child.stdin.end('done\n');
    },
  };
}
