import { readFile } from 'node:fs/promises';

/** The version of a package as this process would load it. Its manifest need not be exported. */
export async function installedVersion(name: string): Promise<string> {
  let folder = new URL('.', import.meta.resolve(name));
  for (;;) {
    const manifest = await readManifest(new URL('package.json', folder));
    if (manifest?.name === name && manifest.version !== undefined) return manifest.version;
    const above = new URL('..', folder);
    if (above.href === folder.href) throw new Error(`no manifest of ${name} was found`);
    folder = above;
  }
}

async function readManifest(file: URL): Promise<{ name?: string; version?: string } | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as { name?: string; version?: string });
}
