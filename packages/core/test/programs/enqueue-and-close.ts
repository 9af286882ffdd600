/** Enqueues once into a backend that answers, hangs or never opens; prints what came of it, closes, and must then end by itself. */
import { createClient, defineJob, isSuretyError } from '@surety/core';
import { hang, type Script, scriptedBackend } from '../producer/scripted-backend.ts';

const scripts: Readonly<Record<string, Script>> = {
  accepted: {},
  OUTCOME_UNKNOWN: { enqueue: hang },
  BACKEND_TIMEOUT: { open: hang },
};
const client = createClient({
  backend: scriptedBackend(scripts[process.argv[2] ?? '']).backend,
  timeout: 200,
});
try {
  console.log((await client.enqueue(defineJob<unknown>('a'), 1)).status);
} catch (error) {
  console.log(isSuretyError(error) ? error.code : error);
}
await client.close();
