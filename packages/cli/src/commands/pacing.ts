import { JSON_OPTION, STORE_OPTIONS } from '../arguments/store-options.ts';
import { flag, queueName } from '../arguments/values.ts';
import type { Command, Invocation } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { withStore } from '../stores/open-store.ts';
import { spellMs } from '../terminal/spell.ts';

/** `surety pause`. */
export const pause: Command = {
  name: 'pause',
  summary: 'Stops a queue for the whole fleet, until it is resumed',
  takes: 'QUEUE',
  words: { min: 1, max: 1 },
  options: { ...JSON_OPTION, ...STORE_OPTIONS },
  details: [
    'Running jobs finish, due times go on, enqueue works. It survives restarts of workers and of the store.',
  ],
  examples: [['surety pause mail', 'nothing of mail is started any more']],
  run: (invocation) => pace(invocation, true),
};

/** `surety resume`. */
export const resume: Command = {
  name: 'resume',
  summary: 'Lets a paused queue go on',
  takes: 'QUEUE',
  words: { min: 1, max: 1 },
  options: { ...JSON_OPTION, ...STORE_OPTIONS },
  details: [],
  examples: [['surety resume mail', 'workers take jobs of mail again']],
  run: (invocation) => pace(invocation, false),
};

async function pace(invocation: Invocation, paused: boolean): Promise<number> {
  const { words, values, output } = invocation;
  const queue = queueName(words[0] ?? '');
  return withStore(invocation, async ({ backend, call, shown }) => {
    const before = await backend.pacing.state(queue, call);
    const known = (await backend.queues(call)).includes(queue);
    if (paused) await backend.pacing.pause(queue, call);
    else await backend.pacing.resume(queue, call);
    const changed = before.paused !== paused;
    if (flag(values, 'json')) {
      output.json({ store: shown, queue, paused, changed });
      return EXIT.ok;
    }
    const { boundMs } = backend.capabilities.pacing;
    const word = paused ? 'paused' : 'resumed';
    output.print(
      changed
        ? `${word} ${queue}; every worker knows within ${spellMs(boundMs)}`
        : `${queue} was ${paused ? 'paused already' : 'not paused'}`,
    );
    // A name that was mistyped is paused all the same.
    if (!known) output.aside(`No job of ${queue} is stored at the moment: is the name right?`);
    return EXIT.ok;
  });
}
