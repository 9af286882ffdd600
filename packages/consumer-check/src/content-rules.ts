import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import type { ExportTarget, Manifest } from './published-packages.ts';

/** What is in a tarball, by path from the root of the package. */
export interface PackageContent {
  readonly manifest: Manifest;
  readonly files: ReadonlySet<string>;
  readonly read: (file: string) => string;
}

const AT_THE_TOP = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'];
const COMPILED = /(?:\.d\.ts|\.js)(?:\.map)?$/;

/** What is wrong with the files of a published package, one sentence each. */
export function contentFindings(content: PackageContent, licence: string): string[] {
  const commands = commandsOf(content.manifest);
  return [
    ...documentFindings(content, licence),
    ...[...content.files]
      .filter((file) => !AT_THE_TOP.includes(file) && !commands.includes(file))
      .flatMap((file) => strayFinding(file, content.files)),
    ...entryFindings(content),
    ...[...content.files]
      .filter((file) => file.endsWith('.map'))
      .flatMap((file) => mapFindings(file, content)),
    ...[...content.files]
      .filter((file) => commands.includes(file) || (file.startsWith('dist/') && /\.(?:js|d\.ts)$/.test(file)))
      .flatMap((file) => importFindings(file, content)),
  ];
}

function documentFindings({ manifest, files, read }: PackageContent, licence: string): string[] {
  const missing = AT_THE_TOP.filter((file) => !files.has(file)).map((file) => `lacks ${file}`);
  if (missing.length > 0) return missing;
  const wrong: string[] = [];
  if (read('LICENSE') !== licence)
    wrong.push('LICENSE differs from that of the repository: run `npm run generate`');
  const installed = new RegExp(`npm (?:install|i) [^\\n]*${manifest.name}(?![\\w/-])`);
  if (!installed.test(read('README.md')))
    wrong.push(`README.md does not say how to install ${manifest.name}`);
  if (!read('CHANGELOG.md').includes(`## ${manifest.version}\n`))
    wrong.push(`CHANGELOG.md has no section for ${manifest.version}`);
  return wrong;
}

/** Sources are published beside what is compiled from them, for stack traces and "go to definition"; nothing else is. */
function strayFinding(file: string, files: ReadonlySet<string>): string[] {
  if (/(?:^|\/)(?:tests?|fixtures)\/|\.(?:test|spec)\.|\.tsbuildinfo$/.test(file)) return [`holds ${file}`];
  if (file.startsWith('dist/')) {
    const source = file.slice('dist/'.length).replace(COMPILED, '.ts');
    return !COMPILED.test(file) || !(files.has(`src/${source}`) || files.has(source))
      ? [`holds ${file}, which no published source makes`]
      : [];
  }
  if (file.startsWith('src/')) {
    const built = file.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js');
    if (!file.endsWith('.ts')) return /\.(?:sql|lua)$/.test(file) ? [] : [`holds ${file}`];
    return files.has(built) ? [] : [`lacks ${built}: the build is older than the source`];
  }
  return isBesideSources(file, files) ? [] : [`holds ${file}`];
}

/** Of a package whose sources are not in `src`: a source that was compiled, and the page of a folder of such. */
function isBesideSources(file: string, files: ReadonlySet<string>): boolean {
  if (file.endsWith('.ts')) return files.has(`dist/${file.replace(/\.ts$/, '.js')}`);
  const folder = file.slice(0, -'README.md'.length);
  return file.endsWith('/README.md') && [...files].some((other) => other.startsWith(`dist/${folder}`));
}

function entryFindings({ manifest, files }: PackageContent): string[] {
  const entries = Object.values(manifest.exports ?? {}).flatMap(targetsOf);
  return [...entries.map((target) => posix.normalize(target)), ...commandsOf(manifest)]
    .filter((target) => !files.has(target))
    .map((target) => `points to ${target}, which is not in the tarball`);
}

function commandsOf({ bin }: Manifest): string[] {
  const files = typeof bin === 'string' ? [bin] : Object.values(bin ?? {});
  return files.map((file) => posix.normalize(file));
}

function targetsOf(target: ExportTarget): string[] {
  return typeof target === 'string' ? [target] : Object.values(target).flatMap(targetsOf);
}

function mapFindings(file: string, { files, read }: PackageContent): string[] {
  const { sources } = JSON.parse(read(file)) as { readonly sources: readonly string[] };
  return sources
    .map((source) => posix.join(posix.dirname(file), source))
    .filter((source) => !files.has(source))
    .map((source) => `${file} names ${source}, which is not in the tarball`);
}

/** Every module that compiled code or its types load must come with the package or be declared by it. */
function importFindings(file: string, content: PackageContent): string[] {
  return importsOf(content.read(file)).flatMap((specifier) => {
    const problem = specifier.startsWith('.')
      ? relativeFinding(file, specifier, content.files)
      : bareFinding(specifier, content.manifest);
    return problem === undefined ? [] : [`${file} imports "${specifier}", ${problem}`];
  });
}

function importsOf(code: string): string[] {
  // Output of the compiler: a statement begins its line. Lines of comments are no code.
  const uncommented = code.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
  const statements = uncommented.matchAll(
    /^(?:import\s*|(?:import|export)\b[^'"`;]*?\bfrom\s*)['"]([^'"\n]+)['"]/gm,
  );
  const calls = uncommented.matchAll(/\bimport\(\s*['"]([^'"\n]+)['"]/g);
  return [...statements, ...calls].flatMap(([, specifier]) => (specifier === undefined ? [] : [specifier]));
}

function relativeFinding(file: string, specifier: string, files: ReadonlySet<string>): string | undefined {
  const target = posix.join(posix.dirname(file), specifier);
  // The compiler keeps `.ts` in types; there it means the declaration.
  const wanted = file.endsWith('.d.ts') ? target.replace(/\.[jt]s$/, '.d.ts') : target;
  return files.has(wanted) ? undefined : 'which is not in the tarball';
}

function bareFinding(specifier: string, manifest: Manifest): string | undefined {
  if (isBuiltin(specifier))
    return specifier.startsWith('node:') ? undefined : 'a module of Node without "node:"';
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  const declared = {
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  };
  return name === manifest.name || name in declared ? undefined : 'which the package does not declare';
}
