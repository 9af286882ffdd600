import type { Backend, SettleOutcome } from '@surety/core/contract';
import { override } from '../../stage/override.ts';
import { type Connect, connectTo } from '../../stage/place.ts';

/** A store that tells late workers that their settlements counted. */
export async function connect(args: unknown): Promise<Backend> {
  const backend = await connectTo(args as Connect);
  const both = backend.settleAndClaim;
  return override(backend, {
    settle: async (settlements, options) => counted(await backend.settle(settlements, options)),
    ...(both !== undefined && {
      settleAndClaim: async (settlements, request) => {
        const answer = await both.call(backend, settlements, request);
        return { ...answer, outcomes: counted(answer.outcomes) };
      },
    }),
  });
}

function counted(outcomes: readonly SettleOutcome[]): readonly SettleOutcome[] {
  return outcomes.map((outcome) => (outcome.status === 'lease-lost' ? { status: 'settled' } : outcome));
}
