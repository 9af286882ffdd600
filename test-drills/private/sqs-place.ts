import type { SqsOptions } from '@surety/sqs';
import { type SqsFaults, startSqs } from '@surety/testbed';
import type { Place } from '../stage/place.ts';
import { connectOf } from './connect.ts';
import { openRoad } from './open-road.ts';

/**
 * What the service does on any day: throttles, fails single entries, loses answers, hands out less than there is and out of order.
 * Answers to sends are not lost and nothing comes twice by itself: extra copies are for the drills that plan them.
 */
export const WEATHER: Partial<SqsFaults> = {
  throttled: 0.02,
  unavailable: 0.01,
  failedEntry: 0.02,
  lostAnswer: { ChangeMessageVisibilityBatch: 0.02, GetQueueAttributes: 0.02, GetQueueUrl: 0.02 },
  emptyReceive: 0.05,
  shortReceive: 0.1,
  shuffled: true,
};

/** An emulator of its own behind its fault layer. */
export async function sqsPlace(seed: number): Promise<Place> {
  const server = await startSqs({ faults: { ...WEATHER, seed } });
  const at = (endpoint: string): Place['connect'] =>
    connectOf({ adapter: 'sqs', options: optionsFor(endpoint, server.region) });
  return {
    backend: 'sqs',
    where: `${server.version}, an emulator of SQS, on port ${server.port}`,
    connect: at(server.endpoint),
    server,
    road: () => openRoad(server, (host, port) => at(`http://${host}:${port}`)),
    [Symbol.asyncDispose]: () => server.destroy(),
  };
}

/** Small waits: what they save on a real account they cost a drill in time. */
function optionsFor(endpoint: string, region: string): SqsOptions {
  const credentials = { accessKeyId: 'drill', secretAccessKey: 'drill' };
  return { region, endpoint, credentials, pollSeconds: 2, pauseCheckMs: 1000, delayCheckMs: 500 };
}
