import { mustRun, runCommand } from './run-command.ts';

/** Whether a Docker engine answers; the client alone is no use. */
export async function dockerAnswers(): Promise<boolean> {
  const result = await runCommand('docker', ['info', '--format', '{{.ServerVersion}}'], { timeoutMs: 5_000 });
  return result.code === 0 && result.stdout.trim() !== '';
}

export function docker(...args: readonly string[]): Promise<string> {
  // The first run may have to pull an image.
  return mustRun('docker', args, { timeoutMs: 600_000 });
}
