import type { Finding } from '@surety/core/operator';
import type { Call } from '../call.ts';
import { BrokerClock } from '../delays/broker-clock.ts';
import { Line } from '../wire/line.ts';
import { note, ok } from './findings.ts';
import { connected, type Visit } from './visit.ts';

/** Expiries and ages are told by the clocks of the hosts; logs of several machines too. */
const NOTE_MS = 1000;
/** It is known after a second or so; a broker that takes no message in does not tell it. */
const READ_MS = 5000;

/** The broker's clock, by which delays run, beside this machine's. */
export async function checkClock({ place, call }: Visit): Promise<readonly Finding[]> {
  const line = new Line(() => connected(place, call), {
    up: async () => undefined,
    down: () => undefined,
  });
  const clock = new BrokerClock(line);
  const brief: Call = { ...call, deadline: Math.min(call.deadline, performance.now() + READ_MS) };
  try {
    await clock.known(brief);
    const now = Date.now();
    return [clockFinding(clock.earliest() - now, clock.latest() - now)];
  } finally {
    clock.stop();
    await line.close(performance.now() + 1000);
  }
}

/** From how far it is ahead, at least and at most. */
export function clockFinding(least: number, most: number): Finding {
  const offsetMs = (least + most) / 2;
  const certainMs = Math.max(0, least, -most);
  const way = offsetMs > 0 ? 'ahead of' : 'behind';
  const what = `the broker's clock is ${Math.round(Math.abs(offsetMs))} ms ${way} this machine's`;
  if (certainMs < NOTE_MS) return ok('clock', what);
  const remedy =
    'Let NTP keep all clocks: delays run by the clock of the broker, expiries and ages are told by those of the hosts.';
  return note('clock', what, remedy);
}
