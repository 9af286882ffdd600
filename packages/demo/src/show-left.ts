import { relative } from 'node:path';
import type { DeadJob } from './account.ts';
import type { DemoFiles } from './demo-files.ts';
import type { DemoStore } from './stores.ts';

/** What stays behind as files. */
export function fileLines(store: DemoStore, files: DemoFiles, jobsAreHere: boolean): readonly string[] {
  const jobs = jobsAreHere ? [`jobs ${here(store.address.url.slice('sqlite:'.length))}`] : [];
  const left = [...jobs, `effects ${here(files.effects)}`, `logs ${here(files.logOf('worker-*'))}`];
  return [`To look into: ${left.join(', ')}`];
}

/** Commands to type, which work on what was left. */
export function commandLines(store: DemoStore, queue: string, dead: readonly DeadJob[]): readonly string[] {
  const of = ` --queue ${queue}`;
  const [first] = dead;
  const commands = [
    `npx surety status${of}`,
    `npx surety dead list${of}`,
    ...(first === undefined ? [] : [`npx surety dead show ${first.id}`, `npx surety jobs show ${first.id}`]),
    `npx surety dead redrive --type ${first?.type ?? 'github.push'}${of}`,
    'npx surety doctor',
  ];
  return ['Try', ...locationLines(store, queue), ...commands.map((command) => `  ${command}`)];
}

/** A URL with a password is not repeated. */
function locationLines({ name, address: { url, namespace } }: DemoStore, queue: string): readonly string[] {
  const place = namespace === null ? '' : `, and --namespace ${namespace}`;
  if (url.startsWith('sqlite:')) return [`  export SURETY_URL=sqlite:${here(url.slice('sqlite:'.length))}`];
  // RabbitMQ lists no queues: the URL has to name the demo's.
  const named = name === 'rabbitmq' ? `, with ?queues=${queue}` : '';
  return [`  export SURETY_URL=...   # the URL of this run${named}${place}`];
}

function here(path: string): string {
  const shorter = relative(process.cwd(), path);
  return shorter.startsWith('..') ? path : shorter;
}
