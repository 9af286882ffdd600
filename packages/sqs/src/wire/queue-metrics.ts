import type * as CloudWatch from '@aws-sdk/client-cloudwatch';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { SuretyError } from '@surety/core/errors';
import { ADAPTER, type Call, closedError, LATE, timedOut, timerMs, within } from '../call.ts';
import { fromNative } from '../native-errors.ts';

interface Known {
  readonly at: number;
  readonly value: Promise<number | null>;
}

/** The service writes it once a minute; to ask more often brings nothing new and costs. */
const BELIEVED_MS = 60_000;
const PERIOD_S = 60;
/** So far back the last value may be: the metric is some minutes late. */
const WINDOW_MS = 15 * 60_000;

/** The metric ApproximateAgeOfOldestMessage of queues, from CloudWatch: by the minute, some minutes late, running jobs included. */
export class QueueMetrics {
  readonly #client: CloudWatch.CloudWatchClient;
  readonly #module: typeof CloudWatch;
  readonly #known = new Map<string, Known>();
  #isClosed = false;

  /** With the keys and the region of the other client. Throws OPTIONS_INVALID where the package is not installed. */
  static async open(sqs: SQSClient): Promise<QueueMetrics> {
    const module = await import('@aws-sdk/client-cloudwatch').catch((cause: unknown) => {
      throw new SuretyError('OPTIONS_INVALID', 'The package @aws-sdk/client-cloudwatch cannot be loaded.', {
        adapter: ADAPTER,
        operation: 'open',
        cause,
        remedy: 'Install it beside @surety/sqs, or let the option oldestAge be bound.',
      });
    });
    return new QueueMetrics(module, sqs);
  }

  private constructor(module: typeof CloudWatch, { config }: SQSClient) {
    this.#module = module;
    this.#client = new module.CloudWatchClient({
      region: config.region,
      credentials: config.credentials,
      maxAttempts: 1,
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#client.destroy();
  }

  /** Of the newest minute that is known; null: of no minute lately, as with a queue that was just made or is not used. */
  async oldestAgeMs(name: string, now: number, call: Call): Promise<number | null> {
    const known = this.#known.get(name);
    if (known !== undefined && performance.now() - known.at < BELIEVED_MS) return shared(known.value, call);
    const value = this.#ask(name, now, call);
    this.#known.set(name, { at: performance.now(), value });
    value.catch(() => {
      if (this.#known.get(name)?.value === value) this.#known.delete(name);
    });
    return shared(value, call);
  }

  async #ask(name: string, now: number, call: Call): Promise<number | null> {
    if (this.#isClosed) throw closedError(call.operation);
    const command = new this.#module.GetMetricStatisticsCommand({
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateAgeOfOldestMessage',
      Dimensions: [{ Name: 'QueueName', Value: name }],
      StartTime: new Date(now - WINDOW_MS),
      EndTime: new Date(now),
      Period: PERIOD_S,
      Statistics: ['Maximum'],
    });
    try {
      const abortSignal = AbortSignal.timeout(Math.ceil(timerMs(call.deadline)));
      const { Datapoints = [] } = await this.#client.send(command, { abortSignal });
      const [newest] = Datapoints.toSorted((a, b) => timeOf(b) - timeOf(a));
      return newest?.Maximum === undefined ? null : newest.Maximum * 1000;
    } catch (native) {
      throw fromNative(native, call.operation, 'GetMetricStatistics');
    }
  }
}

async function shared(value: Promise<number | null>, call: Call): Promise<number | null> {
  const found = await within(value, call.deadline);
  if (found === LATE) throw timedOut(call.operation);
  return found;
}

function timeOf({ Timestamp }: { readonly Timestamp?: Date | undefined }): number {
  return Timestamp?.getTime() ?? 0;
}
