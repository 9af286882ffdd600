import type { Stage } from './stage.ts';

const WITHIN_MS = 30_000;

/** Notes whether a queue is empty in the end: nothing ready, scheduled, leased or dead. Approximate figures may lag behind. */
export async function nothingLeft(stage: Stage, queue: string, when: string): Promise<void> {
  const backend = await stage.open();
  const left = async (): Promise<readonly number[]> => {
    const { ready, scheduled, leased, dead } = await stage.counts(backend, queue);
    return [ready, scheduled, leased, dead].map(({ value }) => value ?? 0);
  };
  const isEmpty = await stage
    .eventually(`${when}: the queue is empty`, WITHIN_MS, async () =>
      (await left()).every((count) => count === 0),
    )
    .catch(() => false);
  const detail = isEmpty ? '' : `ready, scheduled, leased, dead: ${(await left()).join(', ')}`;
  stage.must(`${when}: none is stranded`, isEmpty, detail);
}
