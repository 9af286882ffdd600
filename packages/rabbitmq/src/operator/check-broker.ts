import { randomUUID } from 'node:crypto';
import type { Finding } from '@surety/core/operator';
import type { Call } from '../call.ts';
import type { Names } from '../names.ts';
import { Line } from '../wire/line.ts';
import { answered, onChannel } from '../wire/open-wire.ts';
import { type Published, Publisher } from '../wire/publisher.ts';
import { setsConsumerTimeout } from '../wire/version.ts';
import { clientVersion } from './client-version.ts';
import { failed, note, ok, problem } from './findings.ts';
import { connected, type Visit } from './visit.ts';

const ROUNDS = 5;
/** Each claim and settlement takes a round trip at least. */
const SLOW_TRIP_MS = 20;
/** For one message to be answered. A broker that takes longer is as good as one that does not. */
const ANSWER_MS = 3000;

/** Version, and for how long a job may be held. */
export function checkServer({ wire }: Visit): readonly Finding[] {
  return [
    ok('server', `RabbitMQ ${wire.version}, client amqplib ${clientVersion()}`),
    setsConsumerTimeout(wire)
      ? ok('consumer-timeout', 'the queues of Surety set their own: 24.8 days')
      : note(
          'consumer-timeout',
          'a broker before 4.0 does not tell its consumer_timeout, 30 minutes unless it was changed: who holds a job for longer loses its channel',
          'Where jobs run for more than 28 minutes: raise consumer_timeout in rabbitmq.conf, and give the option consumerTimeoutMs the same.',
        ),
  ];
}

/** How long the broker takes to answer. */
export async function checkLatency({ wire, call }: Visit): Promise<readonly Finding[]> {
  const best = await answered(
    wire,
    call,
    onChannel(wire, async (channel) => {
      let least = Number.POSITIVE_INFINITY;
      for (let round = 0; round < ROUNDS; round += 1) {
        const from = performance.now();
        await channel.checkExchange('amq.direct');
        least = Math.min(least, performance.now() - from);
      }
      return least;
    }),
  );
  const what = `the fastest of ${ROUNDS} round trips took ${best.toFixed(1)} ms`;
  if (best <= SLOW_TRIP_MS) return [ok('latency', what)];
  return [note('latency', what, 'Bring broker and workers nearer together, or find what keeps it busy.')];
}

/** Whether a message is taken in at all. It is for a queue that nobody has, so that the broker gives it back. */
export async function checkPublishing({ place, names, call }: Visit): Promise<readonly Finding[]> {
  const line = new Line(() => connected(place, call), {
    up: async () => undefined,
    down: () => undefined,
  });
  const brief: Call = { ...call, deadline: Math.min(call.deadline, performance.now() + ANSWER_MS) };
  try {
    const publisher = new Publisher(line, () => undefined);
    // Under an alarm the first one is still answered, and the connection is not read from after it.
    await publish(publisher, names, brief);
    const published = await publish(publisher, names, brief);
    if (published?.status === 'refused' && !published.unroutable)
      return [failed('publishing', published.error)];
    if (published?.status !== 'unknown') return [ok('publishing', 'the broker takes messages in')];
    return [
      problem(
        'publishing',
        `the broker did not take a message in within ${ANSWER_MS / 1000} s: nothing can be enqueued`,
        'Free its memory or disk (rabbitmq-diagnostics alarms), or find what keeps it busy. Running jobs go on meanwhile.',
      ),
    ];
  } finally {
    await line.close(performance.now() + 1000);
  }
}

async function publish(publisher: Publisher, names: Names, call: Call): Promise<Published | undefined> {
  const messageId = randomUUID();
  const key = `${names.control}.nobody.${messageId}`;
  const message = { exchange: '', key, body: Buffer.alloc(0), options: { messageId } };
  const [published] = await publisher.publish([message], call);
  return published;
}
