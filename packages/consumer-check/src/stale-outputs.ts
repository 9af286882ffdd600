import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const OUTPUT = /(?:\.d\.ts|\.js)(?:\.map)?$/;
/** Where sources are: in `src`, or, of the drills, in folders of their own. */
const SOURCES = ['src', '.'];

/**
 * Deletes from `dist` what was compiled from a source that is gone. `tsc -b` leaves such files, and they would be published.
 * Answers with the deleted paths, from `dist` on.
 */
export function deleteStaleOutputs(packageFolder: string): string[] {
  const dist = join(packageFolder, 'dist');
  const sourceIn = (sources: string, file: string): string =>
    join(packageFolder, sources, file.replace(OUTPUT, '.ts'));
  if (!existsSync(dist)) return [];
  const stale = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (file) => OUTPUT.test(file) && !SOURCES.some((sources) => existsSync(sourceIn(sources, file))),
  );
  for (const file of stale) rmSync(join(dist, file));
  return stale;
}
