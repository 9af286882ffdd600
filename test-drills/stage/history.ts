import { join } from 'node:path';
import { openTrace, recordFinal, type Trace } from '@surety/core/trace';
import { checkHistory, openJobs } from '@surety/history';
import type { Stage } from './stage.ts';

/** Everything that the processes of a drill did, written down by themselves and read by the checker in the end. */
export interface History {
  /** For clients of this process, and for the faults that the drill injects. */
  readonly trace: Trace;
  /** A new file for one worker: the setting `trace` of its order. */
  readonly file: () => string;
  /** Reads all, once nothing runs any more, and notes that it is whole. `reclaimWithinMs`: for workers that always have room. */
  readonly judge: (queues: readonly string[], reclaimWithinMs?: number) => Promise<void>;
}

const SHOWN_FINDINGS = 3;

/** Begins a history. */
export function startHistory(stage: Stage): History {
  const files: string[] = [];
  const file = (): string => {
    const name = join(stage.folder, `history-${files.length}.jsonl`);
    files.push(name);
    return name;
  };
  const trace = openTrace(file());
  return {
    trace,
    file,
    async judge(queues, reclaimWithinMs) {
      const backend = await stage.open();
      await recordFinal(trace, backend, { queues, ids: await openJobs(files), ...stage.call });
      trace.close();
      const { whole, complete, findings, account } = await checkHistory(
        files,
        reclaimWithinMs === undefined ? {} : { reclaimWithinMs },
      );
      const first = findings.slice(0, SHOWN_FINDINGS).map(({ kind, what }) => `${kind}: ${what}`);
      stage.must('the recorded history is whole', whole && complete, first.join('; '));
      const { lines, processes, accepted, completed, dead, lost, effects, duplicates } = account;
      const ends = { accepted, completed, dead, lost, effects, duplicates };
      stage.figure('history', { lines, processes, ...ends, worstRecoveryMs: account.worstRecoveryMs });
    },
  };
}
