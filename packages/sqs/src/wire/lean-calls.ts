import type { SQSClient } from '@aws-sdk/client-sqs';
import type { HotAction, HotAnswers, HotCalls, HotInputs } from './hot-calls.ts';
import { type Agents, type Answer, type Place, post } from './http-post.ts';
import { RequestSigner } from './request-signer.ts';
import type { ServerClock } from './server-clock.ts';
import { serviceError } from './service-error.ts';

/** Where the requests for a queue go, and who signs them. */
interface Target {
  readonly place: Place;
  readonly host: string;
  readonly signer: RequestSigner;
}

const CONTENT_TYPE = 'application/x-amz-json-1.0';
const SERVICE = 'sqs';
const USER_AGENT = 'surety-sqs';
/** The service refuses what is signed five minutes beside its own time. */
const SKEWED_MS = 240_000;

/**
 * The same requests as the AWS SDK's, without its chain of steps, which takes three times as long as the rest of a request. Keys, region, endpoint and the
 * difference of the clocks are those of its client. Bodies are not compared with their MD5: TLS guards them already.
 */
export class LeanCalls implements HotCalls {
  readonly #client: SQSClient;
  readonly #agents: Agents;
  readonly #clock: ServerClock;
  readonly #targets = new Map<string, Promise<Target>>();
  readonly #config: { systemClockOffset?: number };

  constructor(client: SQSClient, agents: Agents, clock: ServerClock) {
    this.#client = client;
    this.#agents = agents;
    this.#clock = clock;
    this.#config = client.config;
  }

  async ask<Action extends HotAction>(
    action: Action,
    input: HotInputs[Action],
    signal: AbortSignal,
  ): Promise<HotAnswers[Action]> {
    const { place, host, signer } = await this.#target(input.QueueUrl ?? '');
    // Kept by the client, which renews them before they expire.
    const keys = await this.#client.config.credentials();
    const body = JSON.stringify(input);
    const told = {
      'content-type': CONTENT_TYPE,
      host,
      'x-amz-target': `AmazonSQS.${action}`,
      'x-amzn-query-mode': 'true',
    };
    const askedAt = Date.now();
    const offsetMs = this.#config.systemClockOffset ?? 0;
    const signed = signer.sign(
      { method: 'POST', path: place.path, headers: told, body },
      keys,
      askedAt + offsetMs,
    );
    const headers = [...Object.entries(told), ...Object.entries(signed)].flat();
    headers.push('content-length', String(Buffer.byteLength(body)), 'user-agent', USER_AGENT);
    const sentAt = performance.now();
    const answer = await post(place, this.#agents, headers, body, signal);
    const isCorrected = this.#heard(answer, sentAt, offsetMs);
    if (answer.status !== 200) throw serviceError(answer, isCorrected);
    return JSON.parse(answer.text) as HotAnswers[Action];
  }

  #target(queueUrl: string): Promise<Target> {
    const known = this.#targets.get(queueUrl);
    if (known !== undefined) return known;
    const finding = this.#find(queueUrl);
    this.#targets.set(queueUrl, finding);
    finding.catch(() => this.#targets.delete(queueUrl));
    return finding;
  }

  async #find(queueUrl: string): Promise<Target> {
    const { config } = this.#client;
    const region = await config.region();
    const url = await endpointOf(this.#client, region, queueUrl);
    const secure = url.protocol === 'https:';
    const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
    const path = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`;
    // A literal address of IPv6 has brackets in a URL only.
    const hostname = url.hostname.replace(/^\[|\]$/g, '');
    return {
      place: { secure, hostname, port, path },
      host: url.host,
      signer: new RequestSigner(region, SERVICE),
    };
  }

  /** True: the clocks differed by more than the service bears, and from now on no longer do. */
  #heard({ headers }: Answer, sentAt: number, offsetMs: number): boolean {
    const date = Date.parse(headers.date ?? '');
    if (Number.isNaN(date)) return false;
    this.#clock.heardSecond(date, sentAt, performance.now());
    const newOffsetMs = date - Date.now();
    if (Math.abs(newOffsetMs - offsetMs) < SKEWED_MS) return false;
    this.#config.systemClockOffset = newOffsetMs;
    return true;
  }
}

/** As the client resolves it: what it was given, else where the queue's URL points. */
async function endpointOf({ config }: SQSClient, region: string, queueUrl: string): Promise<URL> {
  if (config.endpoint !== undefined) {
    const { protocol, hostname, port, path } = await config.endpoint();
    return new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`);
  }
  if (config.useQueueUrlAsEndpoint) return new URL(new URL(queueUrl).origin);
  const [UseDualStack, UseFIPS] = await Promise.all([
    config.useDualstackEndpoint(),
    config.useFipsEndpoint(),
  ]);
  return config.endpointProvider({ Region: region, UseDualStack, UseFIPS }).url;
}
