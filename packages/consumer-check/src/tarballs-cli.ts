/**
 * Packs every published package and looks at the tarballs: manifest, files, imports, entry points, types. Ends with 1 and one
 * line per fault. Wants the packages built.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPackageFromTarballData, type Package } from '@arethetypeswrong/core';
import { contentFindings } from './content-rules.ts';
import { manifestFindings } from './manifest-rules.ts';
import { type PackedPackage, packPackages } from './pack.ts';
import { publishedPackages, repositoryRoot } from './published-packages.ts';
import { publintFindings, typeFindings } from './tool-findings.ts';

const packages = publishedPackages();
const licence = readFileSync(join(repositoryRoot, 'LICENSE'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'surety-tarballs-'));

try {
  const packed = packPackages(packages, folder);
  for (const one of packed) {
    const findings = await findingsOf(one);
    for (const finding of findings) console.error(`${one.folder}: ${finding}`);
    if (findings.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function findingsOf(one: PackedPackage): Promise<string[]> {
  const data = new Uint8Array(readFileSync(one.tarball));
  const unpacked = createPackageFromTarballData(data);
  const content = contentOf(unpacked);
  // What npm put into the tarball, not what lies in the folder.
  const manifest = JSON.parse(content.read('package.json')) as PackedPackage['manifest'];
  const found = [
    ...manifestFindings({ folder: one.folder, manifest }, packages),
    ...contentFindings({ ...content, manifest }, licence),
  ];
  // The tools ask for files that must be there first.
  if (found.length > 0) return found;
  return [
    ...(await publintFindings(data.buffer)),
    ...(manifest.exports === undefined ? [] : await typeFindings(unpacked)),
  ];
}

function contentOf(unpacked: Package): { files: ReadonlySet<string>; read: (file: string) => string } {
  const prefix = `/node_modules/${unpacked.packageName}/`;
  return {
    files: new Set(unpacked.listFiles(prefix).map((file) => file.slice(prefix.length))),
    read: (file) => unpacked.readFile(prefix + file),
  };
}
