import type { Socket } from 'node:net';
import { resetSocket } from './reset-socket.ts';

/** What a network can do to one direction of a connection; read anew with every step, so that a change holds at once. */
export interface Weather {
  readonly held: boolean;
  readonly swallow: boolean;
  readonly delayMs: number;
}

/** A step of a TCP stream: bytes, the end of them in order, or a reset. */
type Step =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'end' }
  | { readonly kind: 'reset' };

export interface OneWay {
  /** Something in the weather changed: try to go on. */
  wake(): void;
  /** Bytes, or the end, were swallowed: the stream has a hole, and nothing that follows would make sense. */
  readonly damaged: boolean;
  discard(): void;
}

/** Beyond this the source is not read any more, so that the sender feels it as it would on a slow or dead network. */
const MOST_HELD_BYTES = 1024 * 1024;

/** Carries what comes from `source` to `sink` in order, as the weather allows. */
export function carry(source: Socket, sink: Socket, weather: () => Weather): OneWay {
  const steps: { step: Step; dueAt: number }[] = [];
  let heldBytes = 0;
  let damaged = false;
  let ended = false;
  let timer: NodeJS.Timeout | undefined;

  const add = (step: Step): void => {
    // A shorter delay set later does not let bytes overtake: only the first in line is ever looked at.
    steps.push({ step, dueAt: performance.now() + weather().delayMs });
    if (step.kind === 'bytes') heldBytes += step.bytes.length;
    if (heldBytes > MOST_HELD_BYTES) source.pause();
    wake();
  };

  const wake = (): void => {
    clearTimeout(timer);
    timer = undefined;
    while (!weather().held && !sink.writableNeedDrain) {
      const first = steps[0];
      if (first === undefined) break;
      const waitMs = first.dueAt - performance.now();
      if (waitMs > 0 && weather().delayMs > 0) {
        timer = setTimeout(wake, Math.ceil(waitMs));
        break;
      }
      steps.shift();
      pass(first.step);
    }
    if (heldBytes <= MOST_HELD_BYTES && source.isPaused() && !source.destroyed) source.resume();
  };

  const pass = (step: Step): void => {
    if (step.kind === 'bytes') heldBytes -= step.bytes.length;
    if (weather().swallow) {
      damaged = true;
      return;
    }
    if (step.kind === 'bytes') sink.write(step.bytes);
    else if (step.kind === 'end') sink.end();
    else resetSocket(sink);
  };

  source.on('data', (bytes: Buffer) => add({ kind: 'bytes', bytes }));
  source.on('end', () => {
    ended = true;
    add({ kind: 'end' });
  });
  // Gone before both directions were over: reset by the other side, or never connected.
  source.on('close', () => {
    if (!ended || !source.writableFinished) add({ kind: 'reset' });
  });
  sink.on('drain', wake);

  return {
    wake,
    get damaged() {
      return damaged;
    },
    discard() {
      clearTimeout(timer);
      steps.length = 0;
      heldBytes = 0;
    },
  };
}
