const HIDDEN = '***';
/** Parameters of URLs in which drivers take secrets. */
const SECRET_PARAMETER = /pass|secret|token|credential/i;
/** Between the name of the user and the last @ before a blank: what stands there is never shown. */
const IN_URL = /(:\/\/[^\s:@/]*):[^\s]*@/g;
/** Shorter ones, and those that are words of the rest of the URL, would be hidden in every second word of a message. */
const SHORTEST = 6;

/** Makes texts safe to show: the passwords of the URLs of this process are hidden, wherever they stand. */
export function hiderOf(urls: readonly (string | null | undefined)[]): (text: string) => string {
  const secrets = urls.flatMap((url) => (typeof url === 'string' ? secretsIn(url) : []));
  return (text) =>
    secrets.reduce(
      (shown, secret) => shown.replaceAll(secret, HIDDEN),
      text.replace(IN_URL, `$1:${HIDDEN}@`),
    );
}

function secretsIn(text: string): readonly string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const inQuery = [...url.searchParams]
    .filter(([name]) => SECRET_PARAMETER.test(name))
    .map(([, value]) => value);
  const rest = [url.protocol, url.username, url.hostname, url.pathname].join(' ');
  const raw = [url.password, ...inQuery].filter(
    (secret) => secret.length >= SHORTEST && !rest.includes(secret),
  );
  return [...new Set([...raw, ...raw.map(decoded), ...raw.map(encodeURIComponent)])];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
