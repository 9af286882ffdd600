/**
 * Program of a worker process. It may be killed, frozen and thawed at any moment. It attaches no listener for uncaught errors: what
 * escapes must end it, so that the drill sees it.
 */
import type { Handler, Worker } from '@surety/core';
import { monotonicMs } from './monotonic.ts';
import { setClockSkew } from './skewed-clock.ts';
import type { FromWorker, ToWorker, WorkerTask, WorkerTools } from './worker-messages.ts';

interface AtWork {
  readonly worker: Worker;
  readonly go: (point: string) => void;
}

interface HandlersModule {
  readonly handlers: (tools: WorkerTools, args: unknown) => readonly Handler[];
}

let atWork: AtWork | null = null;

process.on('message', (message: ToWorker) => {
  if (message.kind === 'clock') setClockSkew(message.skewMs);
  else if (message.kind === 'go') atWork?.go(message.point);
  else (message.kind === 'start' ? start(message.task) : stop(message.drainMs)).catch(fail);
});
// The drill is gone, so that nobody would ever stop this process.
const orphaned = (): never => process.exit(1);
process.on('disconnect', orphaned);

async function start(task: WorkerTask): Promise<void> {
  setClockSkew(task.clockSkewMs);
  // Imported after the clock was shifted, so that no module can have kept the true one.
  const [{ createWorker }, { connectTo }, { pointsOf, sabotaged }] = await Promise.all([
    import('@surety/core'),
    import('./place.ts'),
    import('./sabotage.ts'),
  ]);
  const { handlers } = (await import(task.handlers)) as HandlersModule;
  const points = pointsOf(task.sabotage, tell);
  const tools: WorkerTools = {
    worker: task.name,
    tell,
    point: (name, data = null) => points.pass(name, data),
  };
  const backend = await connectTo(task.connect);
  const worker = createWorker({
    ...task.settings,
    backend: sabotaged(backend, points, task.sabotage),
    handlers: handlers(tools, task.args),
    onDead: (event) => tell('on-dead', event),
  });
  for (const name of EVENTS) worker.on(name, (event) => tell(name, event));
  atWork = { worker, go: (point) => points.go(point) };
  await worker.start();
  send({ kind: 'started' });
}

const EVENTS = [
  'started',
  'attempt',
  'dead',
  'lease-lost',
  'age-alert',
  'zombie',
  'notice',
  'state',
] as const;

async function stop(drainMs: number): Promise<void> {
  const report = await atWork?.worker.stop({ drain: drainMs });
  send({ kind: 'stopped', report });
  process.off('disconnect', orphaned);
  process.disconnect();
}

function fail(error: unknown): void {
  send({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}

function tell(name: string, data: unknown): void {
  send({ kind: 'event', event: { name, data, atMs: monotonicMs() } });
}

function send(message: FromWorker): void {
  // A drill that has ended has closed the line; `disconnect` ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
