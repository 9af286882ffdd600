import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** This process, and each thread of its own, for as long as it lives. */
export const PROCESS: string = randomUUID().slice(0, 13);

/**
 * Whose monotonic clock it is. Two processes with one host can compare their times, so nothing that has a clock of its own may
 * share it: another boot, another container with a time namespace. Where that cannot be read, a process is its own host.
 */
export const HOST: string = hostId();

/** A process that loses its core between the two clocks reads them tens of ms apart on a busy machine; one reading in so many is whole. */
const READINGS = 20;

/** From `performance.now()`, which begins with the process, to the clock that all processes of the host share. */
const SINCE_BOOT_MS = sinceBootMs();

/** The host's monotonic clock in ms, to the microsecond, at an instant of `performance.now()`. */
export function hostTime(at: number): number {
  return Math.round((at + SINCE_BOOT_MS) * 1000) / 1000;
}

function hostId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const namespace = readlinkSync('/proc/self/ns/time');
    const digest = createHash('sha256').update(`${boot} ${namespace}`).digest('hex');
    return `${hostname()}-${digest.slice(0, 8)}`;
  } catch {
    return `${hostname()}-${PROCESS}`;
  }
}

/** Of several readings that one which took least time: its error is at most half of that. */
function sinceBootMs(): number {
  let best = { tookMs: Infinity, offsetMs: 0 };
  for (let reading = 0; reading < READINGS; reading += 1) {
    const before = performance.now();
    const clock = Number(process.hrtime.bigint()) / 1e6;
    const after = performance.now();
    if (after - before < best.tookMs)
      best = { tookMs: after - before, offsetMs: clock - (before + after) / 2 };
  }
  return best.offsetMs;
}
