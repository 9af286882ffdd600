/** Prints what a history of a million events costs to check: `npm run speed -w @surety/history`, or with another number. */
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkHistory } from '@surety/history';
import { modelRun } from '../support/model-run.ts';

const wanted = Number(process.argv[2] ?? 1_000_000);
const folder = mkdtempSync(join(tmpdir(), 'surety-speed-'));
const file = join(folder, 'trace.jsonl');
try {
  const written = write();
  const before = process.memoryUsage.rss();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 20);
  const startedAt = performance.now();
  const { account, findings } = await checkHistory([file]);
  const seconds = (performance.now() - startedAt) / 1000;
  clearInterval(watch);
  const memory = Math.max(most, process.memoryUsage.rss()) - before;
  console.log(`${written} events, ${megabytes(statSync(file).size)} MB, ${account.accepted} jobs`);
  console.log(
    `${seconds.toFixed(1)} s, ${Math.round(written / seconds)} events a second, ${megabytes(memory)} MB of memory`,
  );
  console.log(`${findings.length} findings`);
  process.exitCode = findings.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}

/** Many runs of the model, each with hosts of its own. */
function write(): number {
  const fd = openSync(file, 'w');
  let events = 0;
  for (let seed = 1; events < wanted; seed += 1) {
    const settings = {
      jobs: 100,
      workers: 4,
      hosts: 2,
      unclear: 0.02,
      stalls: 0.05,
      deaths: 0.01,
      plant: null,
    };
    const run = modelRun({ seed, name: `r${seed}-`, ...settings });
    writeSync(fd, run.traces.map((text) => `${text}\n`).join(''));
    events += run.events;
  }
  closeSync(fd);
  return events;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
