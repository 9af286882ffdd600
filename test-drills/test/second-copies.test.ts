import { createClient, createWorker, handle } from '@surety/core';
import { expect, test } from 'vitest';
import { type Poison, poisonJob } from '../03-poison/jobs.ts';
import { secondCopiesRedriven } from '../03-poison/second-copies.ts';
import { sqlitePlace } from '../private/sqlite-place.ts';
import type { DrillReport } from '../stage/drill.ts';
import { nothingLeft } from '../stage/nothing-left.ts';
import { runDrill } from '../stage/run-drill.ts';

const KIND: Poison = 'kills';

/** A dead letter that is left when the first one of each poison was redriven; its handler is repaired by then. */
async function leftBehind(deaths: number): Promise<DrillReport> {
  await using place = await sqlitePlace();
  return await runDrill(
    {
      name: 'trial',
      summary: '',
      needs: [],
      limitMs: 60_000,
      async run(stage) {
        const queue = stage.queue();
        const backend = await stage.open();
        const job = poisonJob(queue);
        await using client = createClient({ backend: await stage.connect() });
        await using worker = createWorker({
          backend: await stage.connect(),
          queues: [queue],
          log: 'none',
          handlers: [
            handle(job, (_, { redrives }) => {
              if (redrives === 0) throw new Error('not repaired yet');
            }),
          ],
        });
        const { id } = await client.enqueue(job, { poison: KIND });
        await worker.start();
        await stage.eventually('dead', 30_000, () => backend.deadLetters.show(queue, id, stage.call), 50);
        await secondCopiesRedriven(stage, backend, { queue, deaths });
        await nothingLeft(stage, queue, 'in the end');
      },
    },
    {
      place,
      seed: 1,
      quick: true,
      realTime: false,
      progress: { update: () => undefined, print: () => undefined },
      signal: new AbortController().signal,
    },
  );
}

test('a second copy is redriven like the first, where a worker died that can have made it', async () => {
  const { verdict, figures } = await leftBehind(1);
  expect(figures).toMatchObject({ secondCopies: 1, broken: [] });
  expect(verdict).toBe('held');
});

test('a second copy that no death explains breaks the drill', async () => {
  const { verdict, figures } = await leftBehind(0);
  expect(figures['broken']).toEqual(['no second copy without a worker that died: 1 copies, 0 deaths']);
  expect(verdict).toBe('broken');
});
