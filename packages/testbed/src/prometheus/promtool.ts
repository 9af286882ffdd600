import { runCommand } from '../machine/run-command.ts';
import { findPrometheus } from './find-prometheus.ts';

/** Runs promtool, for instance `['test', 'rules', 'alerts.test.yml']`, in a folder. Resolves with what it said, also when that is no. */
export async function promtool(
  args: readonly string[],
  cwd: string,
): Promise<{ readonly ok: boolean; readonly output: string }> {
  const { promtool: program } = await findPrometheus();
  const { code, output } = await runCommand(program, args, { cwd });
  return { ok: code === 0, output };
}
