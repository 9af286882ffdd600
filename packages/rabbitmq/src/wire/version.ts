import type { Wire } from './open-wire.ts';

/** Older brokers have quorum queues that dead-letter at most once. */
const OLDEST: readonly [number, number] = [3, 10];
/** From here on a job can be given back without being counted. */
const FREE_RETURNS: readonly [number, number] = [4, 3];

/** From here on queues set for themselves how long a job may be held. */
const OWN_CONSUMER_TIMEOUT: readonly [number, number] = [4, 0];

/** A version that cannot be read is taken for the oldest that is served. */
export function isTooOld(wire: Pick<Wire, 'version'>): boolean {
  return isBelow(versionOf(wire) ?? OLDEST, OLDEST);
}

export function returnsFree(wire: Pick<Wire, 'version'>): boolean {
  return !isBelow(versionOf(wire) ?? OLDEST, FREE_RETURNS);
}

export function setsConsumerTimeout(wire: Pick<Wire, 'version'>): boolean {
  return !isBelow(versionOf(wire) ?? OLDEST, OWN_CONSUMER_TIMEOUT);
}

function versionOf({ version }: Pick<Wire, 'version'>): readonly [number, number] | null {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  return major === undefined || minor === undefined ? null : [Number(major), Number(minor)];
}

function isBelow(version: readonly [number, number], [major, minor]: readonly [number, number]): boolean {
  return version[0] < major || (version[0] === major && version[1] < minor);
}
