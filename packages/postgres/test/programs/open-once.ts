import { postgres } from '../../src/index.ts';

/** Waits for a word, opens the database named by the first argument, closes it, and ends by itself. */
const [, , url = ''] = process.argv;
process.send?.('here');
await new Promise((resolve) => process.once('message', resolve));
const backend = postgres({ url });
await backend.open({ timeoutMs: 60_000, notify: () => undefined });
await backend.close({ graceMs: 5000 });
process.disconnect();
