import type { Backend } from '@surety/core/contract';
import type { Stage } from '../stage/stage.ts';
import { poisonJob } from './jobs.ts';

/** Every copy is a job of its own, done in moments by the repaired handler. */
const WITHIN_MS = 60_000;

/**
 * A worker that dies in the middle of a move leaves its job twice, and what killed it kills again: the second copy ends as a dead
 * letter too. It is redriven like the first, and none may be there without a worker that died.
 */
export async function secondCopiesRedriven(
  stage: Stage,
  backend: Backend,
  { queue, deaths }: { readonly queue: string; readonly deaths: number },
): Promise<void> {
  let copies = 0;
  const page = { queue, limit: 100, cursor: null, type: poisonJob(queue).type };
  const isOver = async (): Promise<boolean> => {
    const { entries } = await backend.deadLetters.list(page, stage.call);
    const ids = entries.map(({ id }) => id);
    if (ids.length > 0) {
      const outcomes = await backend.deadLetters.redrive(queue, { ids }, stage.call);
      copies += outcomes.filter(({ status }) => status === 'redriven').length;
    }
    const { ready, scheduled, leased, dead } = await stage.counts(backend, queue);
    return [ready, scheduled, leased, dead].every(({ value }) => (value ?? 0) === 0);
  };
  await stage.eventually('second copies redriven', WITHIN_MS, isOver, 250).catch(() => false);
  stage.figure('secondCopies', copies);
  stage.must(
    'no second copy without a worker that died',
    copies <= deaths,
    `${copies} copies, ${deaths} deaths`,
  );
}
