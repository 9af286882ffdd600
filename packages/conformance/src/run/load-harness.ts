import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Harness } from '../harness.ts';

/** Where an adapter of a repository laid out like ours keeps its harness; relative to the working directory. */
export function harnessFolder(name: string): string {
  return join(process.cwd(), 'packages', name, 'test');
}

/** Makes the harness of an adapter by its folder name. Throws when there is none, or no such variant. */
export async function loadHarness(name: string, variant: string | null): Promise<Harness> {
  const file = join(harnessFolder(name), 'harness.ts');
  if (!existsSync(file)) throw new Error(`No adapter ${name}: ${file} is missing.`);
  const loaded: unknown = await import(pathToFileURL(file).href);
  return (loaded as { createHarness(variant: string | null): Harness }).createHarness(variant);
}
