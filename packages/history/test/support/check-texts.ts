import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CheckOptions, checkHistory, type HistoryReport } from '@surety/history';

/** Checks traces that are texts. */
export async function checkTexts(traces: readonly string[], options?: CheckOptions): Promise<HistoryReport> {
  const folder = await mkdtemp(join(tmpdir(), 'surety-history-'));
  try {
    const files = traces.map((_, index) => join(folder, `${index}.jsonl`));
    await Promise.all(files.map((file, index) => writeFile(file, traces[index] ?? '')));
    return await checkHistory(files, options);
  } finally {
    await rm(folder, { recursive: true });
  }
}
