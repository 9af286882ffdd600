import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { capabilityTable } from './capability-table.ts';
import { fillParts } from './fill-parts.ts';
import { stateDiagram } from './state-diagram.ts';

/** A page as it stands and as it should be. */
export interface WrittenPage {
  /** From the root of the repository. */
  readonly file: string;
  readonly is: string;
  readonly wanted: string;
}

/** Pages that people write, with parts that are filled in: the guides, their index, the pages of the examples. */
export function writtenPages(root: string): readonly WrittenPage[] {
  const guides = readdirSync(join(root, 'packages/docs/guides')).map(
    (name) => `packages/docs/guides/${name}`,
  );
  const examples = readdirSync(join(root, 'examples')).map((name) => `examples/${name}/README.md`);
  return ['packages/docs/README.md', ...guides, ...examples]
    .filter((file) => file.endsWith('.md') && existsSync(join(root, file)))
    .map((file) => {
      const is = readFileSync(join(root, file), 'utf8');
      return { file, is, wanted: fill(root, file, is) };
    });
}

function fill(root: string, file: string, page: string): string {
  try {
    return fillParts(page, {
      read: (path) => readFileSync(join(root, path), 'utf8'),
      link: (path) => relative(dirname(file), path),
      generated: {
        'state-diagram': stateDiagram,
        capabilities: () => capabilityTable(root),
        'tiny-totals': () => suiteTotals(join(root, 'examples/tiny-adapter/test/conformance.expected.json')),
      },
    });
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** What the suite said of an adapter, as a sentence. */
function suiteTotals(expectedFile: string): string {
  const { totals } = JSON.parse(readFileSync(expectedFile, 'utf8')) as {
    readonly totals: Readonly<Record<'proven' | 'notApplicable' | 'failed', number>>;
  };
  const { proven, notApplicable, failed } = totals;
  return `Of the cases ${proven} are proven and ${failed} fail; ${notApplicable} are not applicable, since it states less.`;
}
