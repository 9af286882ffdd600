/** Loaded before the command: writes the URL of every module that is loaded after it to the file PROBE_FILE. */
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const loaded: string[] = [];

registerHooks({
  load(url, context, next) {
    loaded.push(url);
    return next(url, context);
  },
});
process.on('exit', () => writeFileSync(process.env['PROBE_FILE'] ?? '', loaded.join('\n')));
