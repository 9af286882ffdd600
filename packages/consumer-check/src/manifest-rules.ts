import type { Manifest, PublishedPackage } from './published-packages.ts';

/** Scripts that npm would run on the machine of whoever installs the package. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare'];
const SUPPORTED_NODE = '>=22.13';
/** Dependencies of one exact version, because another one would be another result. */
const PINNED: ReadonlySet<string> = new Set(['@octokit/webhooks-examples']);

/** What is wrong with the package.json of a published package, one sentence each; `all` are the packages published with it. */
export function manifestFindings(one: PublishedPackage, all: readonly PublishedPackage[]): string[] {
  return [...fieldFindings(one.manifest), ...dependencyFindings(one.manifest, all)];
}

function fieldFindings(manifest: Manifest): string[] {
  const wrong: string[] = [];
  const must = (holds: boolean, sentence: string): void => {
    if (!holds) wrong.push(sentence);
  };
  must((manifest.description ?? '') !== '', 'has no description');
  must((manifest.keywords ?? []).includes('surety'), 'keywords lack "surety"');
  must(manifest.license === 'MIT', 'license is not MIT');
  must(manifest.type === 'module', 'type is not "module"');
  must(manifest.sideEffects === false, 'sideEffects is not false');
  must(manifest.engines?.['node'] === SUPPORTED_NODE, `engines.node is not "${SUPPORTED_NODE}"`);
  must(manifest.exports !== undefined || manifest.bin !== undefined, 'has neither exports nor bin');
  must(
    manifest.exports === undefined || './package.json' in manifest.exports,
    'exports lack "./package.json", which tools read',
  );
  must(
    manifest.publishConfig?.access === 'public' && manifest.publishConfig.provenance === true,
    'publishConfig must be { access: "public", provenance: true }: a release comes from the release workflow alone',
  );
  for (const script of INSTALL_SCRIPTS)
    must(
      manifest.scripts?.[script] === undefined,
      `has a script "${script}", which would run where it is installed`,
    );
  return wrong;
}

function dependencyFindings(manifest: Manifest, all: readonly PublishedPackage[]): string[] {
  const fields = ['dependencies', 'optionalDependencies', 'peerDependencies'] as const;
  return fields.flatMap((field) =>
    Object.entries(manifest[field] ?? {}).flatMap(([name, range]) => {
      const sentence = rangeFinding(name, range, all);
      return sentence === undefined ? [] : [`${field}: ${name}@${range} ${sentence}`];
    }),
  );
}

function rangeFinding(name: string, range: string, all: readonly PublishedPackage[]): string | undefined {
  const sibling = all.find((other) => other.manifest.name === name);
  if (sibling !== undefined) {
    const wanted = `^${sibling.manifest.version}`;
    return range === wanted ? undefined : `must be "${wanted}": the packages of one release fit each other`;
  }
  if (name.startsWith('@surety/')) return 'is not published, so nobody could install this package';
  // A pinned version keeps security fixes from users and doubles what they have; "*" promises what was never tried.
  const wanted = PINNED.has(name) ? /^\d+\.\d+\.\d+$/ : /^\^\d+\.\d+\.\d+$/;
  return wanted.test(range)
    ? undefined
    : PINNED.has(name)
      ? 'must be one version'
      : 'must be a caret range of a full version';
}
