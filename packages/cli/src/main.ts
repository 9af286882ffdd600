import { run } from './run.ts';
import { quietSqliteWarning } from './terminal/quiet-sqlite-warning.ts';

quietSqliteWarning();
// Left to the end of the event loop: what is written to a pipe must have left.
process.exitCode = await run(process.argv.slice(2));
