import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

/** Keys, as a credentials provider brings them. */
export interface SigningKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** What is signed. The names of the headers are in lower case. */
export interface Signable {
  readonly method: 'GET' | 'POST';
  /** As it is sent, without a query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The headers that a signature adds. */
export interface SignatureHeaders {
  readonly 'x-amz-date': string;
  readonly 'x-amz-security-token'?: string;
  readonly authorization: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Signs requests by Signature Version 4. The key for a day, four rounds of HMAC away from the secret, is kept. */
export class RequestSigner {
  readonly #region: string;
  readonly #service: string;
  #key: { readonly keys: SigningKeys; readonly day: string; readonly made: KeyObject } | null = null;
  #second = Number.NaN;
  #stamp = '';

  constructor(region: string, service: string) {
    this.#region = region;
    this.#service = service;
  }

  /** `now`: ms since the epoch, by the clock of the service as far as it is known. */
  sign({ method, path, headers, body }: Signable, keys: SigningKeys, now: number): SignatureHeaders {
    const stamp = this.#stampOf(now);
    const day = stamp.slice(0, 8);
    const token = keys.sessionToken;
    const added = { 'x-amz-date': stamp, ...(token !== undefined && { 'x-amz-security-token': token }) };
    const all: Record<string, string> = { ...headers, ...added };
    const names = Object.keys(all).sort();
    const lines = names.map((name) => `${name}:${all[name] ?? ''}\n`).join('');
    const signed = names.join(';');
    const request = `${method}\n${path}\n\n${lines}\n${signed}\n${hash('sha256', body)}`;
    const scope = `${day}/${this.#region}/${this.#service}/aws4_request`;
    const text = `${ALGORITHM}\n${stamp}\n${scope}\n${hash('sha256', request)}`;
    const signature = createHmac('sha256', this.#keyFor(keys, day)).update(text).digest('hex');
    const authorization = `${ALGORITHM} Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
    return { ...added, authorization };
  }

  /** `20150830T123600Z`. */
  #stampOf(now: number): string {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#stamp = new Date(second * 1000).toISOString().replace(/[-:]|\.\d{3}/g, '');
    }
    return this.#stamp;
  }

  #keyFor(keys: SigningKeys, day: string): KeyObject {
    const kept = this.#key;
    if (kept?.day === day && kept.keys.secretAccessKey === keys.secretAccessKey) return kept.made;
    const made = createSecretKey(signingKey(keys.secretAccessKey, day, this.#region, this.#service));
    this.#key = { keys, day, made };
    return made;
  }
}

/** The key that signs the requests of one day to one service in one region. */
export function signingKey(secret: string, day: string, region: string, service: string): Buffer {
  const step = (key: string | Buffer, part: string): Buffer =>
    createHmac('sha256', key).update(part).digest();
  return step(step(step(step(`AWS4${secret}`, day), region), service), 'aws4_request');
}
