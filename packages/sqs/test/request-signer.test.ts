import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { describe, expect, test } from 'vitest';
import { RequestSigner, signingKey } from '../src/wire/request-signer.ts';

/** The keys of the test vectors that AWS publishes. */
const KEYS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const AT = Date.parse('2015-08-30T12:36:00Z');
const HOST = 'example.amazonaws.com';

function signatureOf(authorization: string): string {
  return authorization.slice(authorization.lastIndexOf('=') + 1);
}

describe('the published vectors of Signature Version 4', () => {
  const signer = new RequestSigner('us-east-1', 'service');

  test.each([
    ['get-vanilla', 'GET', {}, '', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['post-vanilla', 'POST', {}, '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'post-x-www-form-urlencoded',
      'POST',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'Param1=value1',
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ] as const)('%s', (_, method, headers, body, signature) => {
    const signed = signer.sign({ method, path: '/', headers: { host: HOST, ...headers }, body }, KEYS, AT);
    expect(signed['x-amz-date']).toBe('20150830T123600Z');
    expect(signed.authorization).toContain('Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request');
    expect(signatureOf(signed.authorization)).toBe(signature);
  });

  test('the key of a day', () => {
    const key = signingKey(KEYS.secretAccessKey, '20150830', 'us-east-1', 'iam');
    expect(key.toString('hex')).toBe('c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9');
  });
});

type Data = string | ArrayBuffer | ArrayBufferView;

function viewOf(data: Data): string | Uint8Array {
  if (typeof data === 'string') return data;
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

/** The hash that the signer of the AWS SDK asks for. */
class Sha256 {
  readonly #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>;

  constructor(secret?: Data) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', viewOf(secret));
  }

  update(data: Data): void {
    this.#hash.update(viewOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    throw new Error('not asked for');
  }
}

describe("beside the AWS SDK's own signer", () => {
  const signer = new RequestSigner('eu-central-1', 'sqs');

  test.each([
    ['keys for good', KEYS, '{"QueueUrl":"https://sqs.eu-central-1.amazonaws.com/1/q"}', AT],
    ['keys for a time', { ...KEYS, sessionToken: 'a/b+c==' }, '{}', AT],
    ['a body with all kinds of characters', KEYS, '{"MessageBody":"ä \u{1f600} \\n"}', AT],
    ['the last second of a day', KEYS, '{}', Date.parse('2026-12-31T23:59:59.999Z')],
    ['the first of the next', KEYS, '{}', Date.parse('2027-01-01T00:00:00.000Z')],
    ['other keys on the same day', { accessKeyId: 'B', secretAccessKey: 'b' }, '{}', AT],
  ])('%s', async (_, keys, body, at) => {
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      host: 'sqs.eu-central-1.amazonaws.com',
      'x-amz-target': 'AmazonSQS.ReceiveMessage',
    };
    const theirs = await new SignatureV4({
      credentials: keys,
      region: 'eu-central-1',
      service: 'sqs',
      sha256: Sha256,
      applyChecksum: false,
    }).sign(
      {
        method: 'POST',
        protocol: 'https:',
        hostname: headers.host,
        path: '/',
        headers: { ...headers },
        body,
      },
      { signingDate: new Date(at) },
    );
    const ours = signer.sign({ method: 'POST', path: '/', headers, body }, keys, at);
    expect({ ...headers, ...ours }).toEqual(theirs.headers);
  });
});
