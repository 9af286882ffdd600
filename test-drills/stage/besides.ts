/** A module beside another one, with the same ending: `.ts` from source, `.js` when built. `besides(import.meta.url, 'handlers')`. */
export function besides(url: string, name: string): URL {
  return new URL(`./${name}${url.endsWith('.ts') ? '.ts' : '.js'}`, url);
}
