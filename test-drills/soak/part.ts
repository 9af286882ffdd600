import type { Backend } from '@surety/core/contract';
import { openTrace } from '@surety/core/trace';
import type { ActorTask } from './actor.ts';
import { startProducing } from './produce.ts';
import { startWorking } from './work.ts';

/** What an actor does, in whichever process. */
export interface Part {
  readonly accepted: number;
  readonly attempts: number;
  readonly isDone: boolean;
  readonly complaint: string | null;
  stop(): Promise<void>;
}

/** Begins the part of a task on a backend that is not opened. `end`: what a job does that ends its process. */
export async function startPart(task: ActorTask, backend: Backend, end: () => void): Promise<Part> {
  const trace = openTrace(task.trace);
  const part =
    task.role === 'worker'
      ? await startWorking(task, backend, trace, end)
      : await startProducing(task, backend, trace);
  return {
    get accepted() {
      return part.accepted;
    },
    get attempts() {
      return part.attempts;
    },
    get isDone() {
      return part.isDone;
    },
    get complaint() {
      return part.complaint;
    },
    async stop() {
      await part.stop();
      trace.close();
    },
  };
}
