/**
 * Program of a process of the soak. It may be killed, frozen and thawed at any moment. It attaches no listener for uncaught errors:
 * what escapes must end it, so that the soak sees it.
 */
import type { Connect } from '../stage/place.ts';
import { setClockSkew } from '../stage/skewed-clock.ts';
import type { ActorState, ActorTask } from './actor.ts';
import type { Part } from './part.ts';

/** What the process is told. */
export type ToActor =
  | { readonly kind: 'start'; readonly task: ActorTask; readonly connect: Connect }
  | { readonly kind: 'clock'; readonly skewMs: number }
  | { readonly kind: 'stop' };

/** What the process tells. */
export type FromActor =
  | { readonly kind: 'state'; readonly state: ActorState }
  | { readonly kind: 'started' }
  | { readonly kind: 'failed'; readonly reason: string };

const TELL_EVERY_MS = 500;

let part: Part | null = null;
let telling: NodeJS.Timeout | null = null;

process.on('message', (message: ToActor) => {
  if (message.kind === 'clock') setClockSkew(message.skewMs);
  else (message.kind === 'start' ? start(message.task, message.connect) : stop()).catch(fail);
});
// The soak is gone, so that nobody would ever stop this process.
const orphaned = (): never => process.exit(1);
process.on('disconnect', orphaned);

async function start(task: ActorTask, connect: Connect): Promise<void> {
  // A shifted clock stays replaced: jumps that come later need no restart. One millisecond harms nobody.
  setClockSkew(1);
  const [{ startPart }, { connectTo }] = await Promise.all([
    import('./part.ts'),
    import('../stage/place.ts'),
  ]);
  part = await startPart(task, await connectTo(connect), () => void process.kill(process.pid, 'SIGKILL'));
  telling = setInterval(tell, TELL_EVERY_MS);
  send({ kind: 'started' });
}

async function stop(): Promise<void> {
  await part?.stop();
  if (telling !== null) clearInterval(telling);
  tell();
  process.off('disconnect', orphaned);
  process.disconnect();
}

function tell(): void {
  if (part === null) return;
  const { accepted, attempts, isDone, complaint } = part;
  const { heapUsed: heapBytes, rss: rssBytes } = process.memoryUsage();
  send({ kind: 'state', state: { accepted, attempts, isDone, complaint, heapBytes, rssBytes } });
}

function fail(error: unknown): void {
  send({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
  process.exit();
}

function send(message: FromActor): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
