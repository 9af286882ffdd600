import { createClient, createWorker, defineJob, handle } from '@surety/core';
import { isSuretyError } from '@surety/core/errors';
import { startRedisSentinel } from '@surety/testbed';
import { expect, test } from 'vitest';
import { redis } from '../../src/index.ts';
import { eventually } from '../store.ts';

const job = defineJob<{ readonly n: number }>('counted', { queue: 'sentinel' });
/** Enqueues under way at the same time. */
const IN_FLIGHT = 8;

// B118
test('a failover by Sentinel under load: what a replica had confirmed is worked off, by the same worker', async () => {
  await using sentinel = await startRedisSentinel();
  const connection = { sentinels: [{ host: sentinel.host, port: sentinel.port }], name: sentinel.name };
  const backend = () => redis({ connection, confirm: { replicas: 1, withinMs: 500 } });
  const handled = new Set<string>();
  const worker = createWorker({
    backend: backend(),
    concurrency: 5,
    log: 'none',
    handlers: [handle(job, async (_, { id }) => void handled.add(id))],
  });
  await worker.start();
  const client = createClient({ backend: backend() });
  await client.start();
  const accepted = new Set<string>();
  const refusals = new Set<string>();
  let producing = true;
  const producers = Array.from({ length: IN_FLIGHT }, async () => {
    for (let n = 0; producing; n += 1) {
      try {
        accepted.add((await client.enqueue(job, { n })).id);
      } catch (error) {
        refusals.add(isSuretyError(error) ? error.code : String(error));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  });
  await eventually(async () => accepted.size > 200);
  const { primary, other } = await sentinel.roles();
  await primary.kill();
  await eventually(async () => (await sentinel.roles()).primary === other, 60_000);
  // Alone the new primary has no replica that could confirm; the worker goes on all the same.
  await eventually(async () => refusals.has('DURABILITY_NOT_REACHED'), 60_000);
  const before = handled.size;
  await eventually(async () => handled.size > before, 60_000);
  // It comes back as the replica of the one that took its place.
  await primary.start();
  const sofar = accepted.size;
  await eventually(async () => accepted.size > sofar + 200, 60_000);
  producing = false;
  await Promise.all(producers);
  await eventually(async () => [...accepted].every((id) => handled.has(id)), 60_000);
  for (const code of refusals)
    expect(['BACKEND_UNAVAILABLE', 'BACKEND_TIMEOUT', 'OUTCOME_UNKNOWN', 'DURABILITY_NOT_REACHED']).toContain(
      code,
    );
  await client.close();
  await worker.stop();
}, 300_000);
