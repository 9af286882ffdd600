import type { Finding } from '@surety/core/operator';
import { note, ok, orFine, problem } from './findings.ts';
import { figureOf, type Look } from './look.ts';

const ROUNDS = 5;
/** Nothing that Surety decides depends on the client's clock but `runAt`; logs of several machines do. */
const NOTE_MS = 1000;
const PROBLEM_MS = 30_000;
/** Each claim and settlement takes a round trip at least. */
const SLOW_TRIP_MS = 20;
/** The server answers nobody while it forks. */
const SLOW_FORK_MS = 500;

/** The server's clock against this machine's, and how long it takes to answer. */
export async function checkClock({ time, info }: Look): Promise<readonly Finding[]> {
  let best = { offsetMs: 0, tripMs: Number.POSITIVE_INFINITY };
  for (let round = 0; round < ROUNDS; round += 1) {
    const { atMs, tripMs } = await time();
    if (tripMs < best.tripMs) best = { offsetMs: atMs - (Date.now() - tripMs / 2), tripMs };
  }
  return [
    clock(best),
    ...latency(best.tripMs, info === null ? 0 : figureOf(info, 'latest_fork_usec') / 1000),
  ];
}

function clock({ offsetMs, tripMs }: { readonly offsetMs: number; readonly tripMs: number }): Finding {
  const certain = Math.max(0, Math.abs(offsetMs) - tripMs / 2);
  const way = offsetMs > 0 ? 'ahead of' : 'behind';
  const what = `the server's clock is ${Math.round(Math.abs(offsetMs))} ms ${way} this machine's`;
  if (certain < NOTE_MS) return ok('clock', what);
  const remedy =
    'Let NTP keep both clocks: `runAt` is read by the clock of the producer, everything else by the server.';
  return certain < PROBLEM_MS ? note('clock', what, remedy) : problem('clock', what, remedy);
}

function latency(tripMs: number, forkMs: number): readonly Finding[] {
  return orFine(
    [
      tripMs > SLOW_TRIP_MS
        ? note(
            'latency',
            `the fastest of ${ROUNDS} round trips took ${tripMs.toFixed(1)} ms`,
            'Bring server and workers nearer together, and see what keeps the server busy (SLOWLOG GET).',
          )
        : null,
      forkMs > SLOW_FORK_MS
        ? note(
            'latency',
            `the last fork for the log or a snapshot stopped the server for ${Math.round(forkMs)} ms`,
            'Keep less in it, or switch transparent huge pages off on its machine.',
          )
        : null,
    ],
    ok('latency', `round trip ${tripMs.toFixed(1)} ms, last fork ${Math.round(forkMs)} ms`),
  );
}
