import { JSON_OPTION, QUEUE_OPTION, STORE_OPTIONS } from '../arguments/store-options.ts';
import { flag, jobId, queueOption } from '../arguments/values.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { findDead } from '../stores/dead-letters.ts';
import { withStore } from '../stores/open-store.ts';
import { jobLines } from '../terminal/job-lines.ts';

/** `surety dead show`. */
export const deadShow: Command = {
  name: 'dead show',
  summary: 'One dead letter: payload, headers, and every error that was kept',
  takes: 'ID',
  words: { min: 1, max: 1 },
  options: { ...QUEUE_OPTION, ...JSON_OPTION, ...STORE_OPTIONS },
  details: ['Exit code 1: there is no such dead letter.'],
  examples: [
    ['surety dead show 01890a5d-ac96-774b-bcce-b302099a8057', 'looked for in every queue'],
    [
      "surety dead show 01890a5d-ac96-774b-bcce-b302099a8057 --json | jq '.payload | fromjson'",
      'its payload',
    ],
  ],
  run: (invocation) => {
    const { values, words, output } = invocation;
    const id = jobId(words[0] ?? '');
    const queue = queueOption(values);
    return withStore(invocation, async (store) => {
      const letter = await findDead(store, queue, id);
      if (letter === null) {
        output.error(`${store.shown}: there is no dead letter ${id}.`);
        return EXIT.no;
      }
      if (flag(values, 'json')) output.json(letter);
      else output.print(...jobLines(letter));
      return EXIT.ok;
    });
  },
};
