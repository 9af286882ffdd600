import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const ROOT: string = join(import.meta.dirname, '../../..');
const NOT_OURS: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage']);

/** Every markdown file of the repository, by its path from the root. */
export function markdownFiles(folder: string = ROOT): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !entry.name.startsWith('.') && !NOT_OURS.has(entry.name))
      return markdownFiles(path);
    return entry.isFile() && entry.name.endsWith('.md') ? [relative(ROOT, path)] : [];
  });
}

/** The page without its code, in which nothing is a link or a heading. Lines keep their numbers. */
function proseOf(page: string): readonly string[] {
  let fence: string | null = null;
  return page.split('\n').map((line) => {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (fence !== null) {
      if (mark?.startsWith(fence) === true) fence = null;
      return '';
    }
    if (mark === undefined) return line;
    fence = mark;
    return '';
  });
}

/** Where the links of a page lead, with the line that they stand on. */
export function linksOf(page: string): readonly { readonly target: string; readonly line: number }[] {
  return proseOf(page).flatMap((text, index) =>
    [...text.replace(/`[^`]*`/g, '').matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)].map((match) => ({
      target: match[1] ?? '',
      line: index + 1,
    })),
  );
}

/** Anchors of the headings, as GitHub makes them, and those that are written out. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const seen = new Map<string, number>();
  for (const line of proseOf(page)) {
    for (const match of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(match[1] ?? '');
    const heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const slug = slugOf(heading);
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

function slugOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\\(.)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');
}

export function readPage(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
