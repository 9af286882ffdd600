/** A worker process that only looks after delayed jobs. Arguments: endpoint and queue. */
import { serveChild } from '@surety/testbed';
import { claim, connected } from '../emulator.ts';

const [endpoint = '', queue = ''] = process.argv.slice(2);
const backend = await connected({ endpoint });
// Whoever claims once has its pump running from then on.
await claim(backend, queue, 1, 30_000, 0);
serveChild({});
