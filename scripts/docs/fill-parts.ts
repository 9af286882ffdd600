/** What a page may be filled with. */
export interface Sources {
  /** The text of a file, by its path from the root of the repository. Throws when there is none. */
  readonly read: (path: string) => string;
  /** Link to that file, from the page. */
  readonly link: (path: string) => string;
  /** Parts that are made of data, by name. */
  readonly generated: Readonly<Record<string, () => string>>;
}

const OPEN = /^<!-- (code|generated): (\S+) -->$/;
const CLOSE = '<!-- end -->';
const LANGUAGES: Readonly<Record<string, string>> = {
  ts: 'ts',
  sql: 'sql',
  sh: 'sh',
  json: 'json',
  yml: 'yaml',
  yaml: 'yaml',
};

/**
 * Fills what stands between the markers of a page:
 *
 *   `<!-- code: examples/x/file.ts#region -->` ... `<!-- end -->`   a region of a file (no `#`: the whole file)
 *   `<!-- generated: name -->` ... `<!-- end -->`                   a part made of data
 *
 * A region stands between `// region: name` and `// endregion` in its file. Throws for a marker that leads nowhere.
 */
export function fillParts(page: string, sources: Sources): string {
  const filled: string[] = [];
  let opened: string | null = null;
  for (const line of page.split('\n')) {
    if (line === CLOSE) {
      if (opened === null) throw new Error('A part ends that was not opened.');
      opened = null;
    }
    if (opened !== null && OPEN.test(line)) throw new Error(`The part "${opened}" is not ended.`);
    if (opened !== null) continue;
    filled.push(line);
    const [, kind, what] = OPEN.exec(line) ?? [];
    if (kind === undefined || what === undefined) continue;
    opened = what;
    filled.push(kind === 'code' ? quoted(what, sources) : made(what, sources));
  }
  if (opened !== null) throw new Error(`The part "${opened}" is not ended.`);
  return filled.join('\n');
}

function made(name: string, { generated }: Sources): string {
  const make = generated[name];
  if (make === undefined) throw new Error(`There is no generated part "${name}".`);
  return `\n${make()}\n`;
}

function quoted(what: string, { read, link }: Sources): string {
  const [path = '', region] = what.split('#');
  const language = LANGUAGES[path.slice(path.lastIndexOf('.') + 1)];
  if (language === undefined) throw new Error(`${path}: the language of this file is not known.`);
  const text = region === undefined ? read(path).trimEnd() : regionOf(read(path), region, path);
  return `\n\`\`\`${language}\n${text}\n\`\`\`\n\n<sub>[${path}](${link(path)})</sub>\n`;
}

/** The lines of a region, moved to the left margin. */
function regionOf(source: string, name: string, path: string): string {
  const lines = source.split('\n');
  const opens = (line: string): boolean => /^\s*(?:\/\/|--|#) region: /.test(line);
  const starts = lines.flatMap((line, at) => (opens(line) && line.endsWith(` region: ${name}`) ? [at] : []));
  const [start] = starts;
  if (start === undefined) throw new Error(`${path} has no region "${name}".`);
  if (starts.length > 1) throw new Error(`${path} has the region "${name}" twice.`);
  const length = lines.slice(start + 1).findIndex((line) => /^\s*(?:\/\/|--|#) endregion$/.test(line));
  if (length < 0) throw new Error(`The region "${name}" of ${path} is not ended.`);
  const inside = lines.slice(start + 1, start + 1 + length);
  if (inside.some(opens)) throw new Error(`The region "${name}" of ${path} holds another one.`);
  const margin = Math.min(
    ...inside.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)),
    Number.MAX_SAFE_INTEGER,
  );
  return inside.map((line) => line.slice(margin)).join('\n');
}
