import type { Finding } from '@surety/core/operator';
import { note, ok, problem, spell } from './findings.ts';
import type { Look } from './look.ts';

const ROUNDS = 5;
/** Nothing that Surety decides depends on the client's clock but `runAt`; logs of several machines do. */
const NOTE_MS = 1000;
const PROBLEM_MS = 30_000;

/** The server's clock against this machine's, as exactly as the fastest of a few round trips allows. */
export async function checkClock({ ask }: Look): Promise<readonly Finding[]> {
  let best = { offsetMs: 0, tripMs: Number.POSITIVE_INFINITY };
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = performance.now();
    const [row] = await ask('diagnoseClock', []);
    const tripMs = performance.now() - from;
    const offsetMs = Number(row?.['at_ms']) - (Date.now() - tripMs / 2);
    if (tripMs < best.tripMs) best = { offsetMs, tripMs };
  }
  return [judge(best.offsetMs, best.tripMs)];
}

function judge(offsetMs: number, tripMs: number): Finding {
  const certain = Math.max(0, Math.abs(offsetMs) - tripMs / 2);
  const way = offsetMs > 0 ? 'ahead of' : 'behind';
  const what = `the server's clock is ${spell(Math.abs(offsetMs))} ${way} this machine's (round trip ${tripMs.toFixed(1)} ms)`;
  if (certain < NOTE_MS) return ok('clock', what);
  const remedy =
    'Let NTP keep both clocks: `runAt` is read by the clock of the producer, everything else by the server.';
  return certain < PROBLEM_MS ? note('clock', what, remedy) : problem('clock', what, remedy);
}
