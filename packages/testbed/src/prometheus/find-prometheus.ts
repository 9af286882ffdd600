import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { canInstallByApt, installByApt } from '../machine/install-by-apt.ts';

export interface PrometheusPrograms {
  readonly prometheus: string;
  /** Checks configurations and rules, and runs unit tests of rules. */
  readonly promtool: string;
}

const USUAL_PLACES = ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];

/** Both programs, from one folder; on Debian and Ubuntu as root they are installed where they are missing. */
export async function findPrometheus(): Promise<PrometheusPrograms> {
  const found = await find();
  if (found !== null) return found;
  if (await canInstallByApt()) {
    await installByApt({
      packages: ['prometheus'],
      installedWhen: '[ -x /usr/bin/prometheus ] && [ -x /usr/bin/promtool ]',
      // The package starts a service, by default for the whole network.
      configBeforehand: { '/etc/default/prometheus': 'ARGS="--web.listen-address=127.0.0.1:9090"\n' },
    });
    const installed = await find();
    if (installed !== null) return installed;
  }
  throw new Error(
    'no Prometheus to test with. Install it (Debian, Ubuntu: `apt-get install prometheus`; macOS: `brew install ' +
      'prometheus`), so that the programs prometheus and promtool are on the PATH.',
  );
}

async function find(): Promise<PrometheusPrograms | null> {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), ...USUAL_PLACES]) {
    if (folder === '') continue;
    const programs = { prometheus: join(folder, 'prometheus'), promtool: join(folder, 'promtool') };
    if ((await isExecutable(programs.prometheus)) && (await isExecutable(programs.promtool))) return programs;
  }
  return null;
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
