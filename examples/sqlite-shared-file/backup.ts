import { DatabaseSync } from 'node:sqlite';

const [file = '', copy = ''] = process.argv.slice(2);
// region: backup
// One consistent moment of jobs and tables, while services and workers go on. `copy` must not be there yet.
const db = new DatabaseSync(file, { readOnly: true });
db.prepare('vacuum into ?').run(copy);
db.close();
// endregion
