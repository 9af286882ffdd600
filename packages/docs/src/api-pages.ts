import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '@surety/consumer-check';
import { Application, type DeclarationReflection, type ProjectReflection, ReflectionKind } from 'typedoc';
import { load as renderMarkdown } from 'typedoc-plugin-markdown';
import { type EntryPoint, entryPoints } from './entry-points.ts';

/** The pages of the API by file name, made of the types and doc comments that are published. Wants the packages built. */
export async function apiPages(): Promise<ReadonlyMap<string, string>> {
  const entries = entryPoints();
  const unbuilt = entries.filter(({ types }) => !existsSync(types)).map(({ specifier }) => specifier);
  if (unbuilt.length > 0) throw new Error(`Not built, run "npm run build": ${unbuilt.join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'surety-api-'));
  try {
    const app = await application(entries, folder);
    const project = await app.convert();
    if (project === undefined || app.logger.hasErrors()) throw new Error('TypeDoc could not read the types.');
    const modules = modulesByPage(project, entries);
    const whole = entries.filter(({ page }) => !isSelection(modules.get(page)));
    const pages = new Map([['README.md', indexPage(entries, whole, modules)]]);
    for (const { page } of entries.filter((entry) => !whole.includes(entry)))
      project.removeReflection(moduleOf(modules, page));
    await app.generateOutputs(project);
    if (app.logger.hasErrors()) throw new Error('TypeDoc could not write the pages.');
    for (const { page } of whole)
      pages.set(`${page}.md`, withAnchorsThatAreThere(readFileSync(join(folder, `${page}.md`), 'utf8')));
    return pages;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * TypeDoc also numbers anchors of what gets no heading of its own (`Backend.health` beside `BackendHealth`), so some of its links end
 * in a number too many.
 */
function withAnchorsThatAreThere(page: string): string {
  const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    text.toLowerCase().replace(/[^\w -]/g, ''),
  );
  return page.replace(/\]\(#([a-z]+)-1\)/g, (link, name: string) =>
    headings.filter((heading) => heading === name).length === 1 ? `](#${name})` : link,
  );
}

function application(entries: readonly EntryPoint[], folder: string): Promise<Application> {
  const titles = new Map(entries.map(({ page, specifier }) => [page, specifier]));
  const options = {
    plugin: [renderMarkdown],
    entryPoints: entries.map(({ types }) => types),
    tsconfig: compilerSettings(entries, folder),
    basePath: repositoryRoot,
    outputs: [{ name: 'markdown', path: folder }],
    logLevel: 'Warn',
    readme: 'none',
    // Links into the sources would change with every line moved.
    disableSources: true,
    excludeExternals: true,
    excludeInternal: true,
    excludePrivate: true,
    skipErrorChecking: true,
    outputFileStrategy: 'modules',
    pageTitleTemplates: { module: ({ name }: { name: string }) => titles.get(name) ?? name },
    hideBreadcrumbs: true,
    hidePageHeader: true,
    enumMembersFormat: 'table',
    interfacePropertiesFormat: 'table',
    parametersFormat: 'table',
    propertyMembersFormat: 'table',
    typeAliasPropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
    tableColumnSettings: { hideInherited: true, hideModifiers: true, hideOverrides: true, hideSources: true },
  };
  return Application.bootstrapWithPlugins(options as Parameters<typeof Application.bootstrapWithPlugins>[0]);
}

/** The same for everybody who reads the published types: nothing of how this repository compiles its sources. */
function compilerSettings(entries: readonly EntryPoint[], folder: string): string {
  const file = join(folder, 'tsconfig.json');
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    types: ['node'],
    typeRoots: [join(repositoryRoot, 'node_modules/@types')],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
  };
  writeFileSync(file, JSON.stringify({ compilerOptions, files: entries.map(({ types }) => types) }));
  return file;
}

/** TypeDoc names a module after its folder; a page is named after what is imported. */
function modulesByPage(
  project: ProjectReflection,
  entries: readonly EntryPoint[],
): ReadonlyMap<string, DeclarationReflection> {
  const modules = project.getChildrenByKind(ReflectionKind.Module);
  const found = new Map<string, DeclarationReflection>();
  for (const { types, page, specifier } of entries) {
    const path = types.slice(repositoryRoot.length + 1).replace(/(?:\/index)?\.d\.ts$/, '');
    const module = modules.find(({ name }) => name === path);
    if (module === undefined) throw new Error(`TypeDoc found no ${specifier} (${path}).`);
    module.name = page;
    found.set(page, module);
  }
  return found;
}

function moduleOf(modules: ReadonlyMap<string, DeclarationReflection>, page: string): DeclarationReflection {
  const module = modules.get(page);
  if (module === undefined) throw new Error(`There is no module for the page ${page}.`);
  return module;
}

/** True of an entry point that only hands on what another one declares: it gets a line, no page. */
function isSelection(module: DeclarationReflection | undefined): boolean {
  return module?.children?.every(({ kind }) => kind === ReflectionKind.Reference) ?? false;
}

function indexPage(
  entries: readonly EntryPoint[],
  whole: readonly EntryPoint[],
  modules: ReadonlyMap<string, DeclarationReflection>,
): string {
  const lines = entries.map((entry) => {
    const { specifier, page } = entry;
    const names = (modules.get(page)?.children ?? []).map(({ name }) => `\`${name}\``);
    return whole.includes(entry)
      ? `| [\`${specifier}\`](${page}.md) | ${names.length} ${names.length === 1 ? 'export' : 'exports'} |\n`
      : `| \`${specifier}\` | a part of the package's root: ${names.join(', ')} |\n`;
  });
  return `# API\n\nMade of the doc comments of the published types.\n\n| entry point | holds |\n| --- | --- |\n${lines.join('')}`;
}
