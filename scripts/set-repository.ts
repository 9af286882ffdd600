/**
 * Writes into every published package.json where its source is. npm accepts a provenance statement only where the manifest names the
 * repository that it was built in, so the release workflow says which one that is.
 *
 *   node --conditions=surety-source scripts/set-repository.ts https://HOST/OWNER/NAME
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages, repositoryRoot } from '@surety/consumer-check';

const address = process.argv[2] ?? '';
if (!/^https:\/\/[^/\s]+\/[\w.-]+\/[\w.-]+$/.test(address)) {
  console.error('Usage: node --conditions=surety-source scripts/set-repository.ts https://HOST/OWNER/NAME');
  process.exit(2);
}
for (const { folder } of publishedPackages()) {
  const file = join(repositoryRoot, folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  manifest['repository'] = { type: 'git', url: `git+${address}.git`, directory: folder };
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}
