/** Copies the licence into every published package: npm publishes a file only from the package's own folder. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages, repositoryRoot } from '@surety/consumer-check';

for (const { folder } of publishedPackages())
  copyFileSync(join(repositoryRoot, 'LICENSE'), join(repositoryRoot, folder, 'LICENSE'));
