#!/usr/bin/env node
import { existsSync } from 'node:fs';
import * as modules from 'node:module';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(`surety: Node 22.13 or later is needed; this is ${process.versions.node}.\n`);
  process.exit(2);
}

// Most of a short command is the loading of its modules; where the cache cannot be kept, nothing is lost.
modules.enableCompileCache?.();

// In its repository the command runs from source, as everything there does; the published package has no tsconfig.json.
if (existsSync(new URL('../tsconfig.json', import.meta.url))) {
  const condition = 'surety-source';
  modules.registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: [condition, ...context.conditions] }),
  });
  // For the processes that it forks.
  process.execArgv.push(`--conditions=${condition}`);
  await import('../src/main.ts');
} else {
  await import('../dist/main.js');
}
