import type { Received } from '../claims/receive.ts';
import { RETENTION_MS } from '../service-limits.ts';
import type { Session } from '../session.ts';

/** From this age on jobs are told of: there is as much time left to act as has passed. */
const NEAR_MS = RETENTION_MS / 2;
/** The same is told again after this long. */
const AGAIN_MS = 60 * 60 * 1000;

/** Tells of ready jobs that nobody takes: the service drops a message 14 days after it was sent, and says nothing. */
export class RetentionWatch {
  readonly #session: Pick<Session, 'clock' | 'notify'>;
  readonly #told = new Map<string, number>();
  readonly #receivedAt = new Map<string, number>();

  constructor(session: Pick<Session, 'clock' | 'notify'>) {
    this.#session = session;
  }

  /** Jobs came: the oldest of them says how old those beside it may be. */
  received(queue: string, messages: readonly Received[]): void {
    this.#receivedAt.set(queue, performance.now());
    const oldest = Math.min(...messages.map(({ sentAt }) => sentAt));
    this.#judge(queue, this.#session.clock.earliest() - oldest);
  }

  /** There are ready jobs, and this process has taken none for a time; or the queue has been paused since. */
  untouched(queue: string, pausedForMs: number | null): void {
    const receivedAt = this.#receivedAt.get(queue) ?? performance.now();
    this.#receivedAt.set(queue, receivedAt);
    this.#judge(queue, Math.max(pausedForMs ?? 0, performance.now() - receivedAt));
  }

  #judge(queue: string, ageMs: number): void {
    const now = performance.now();
    if (ageMs < NEAR_MS || now - (this.#told.get(queue) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return;
    this.#told.set(queue, now);
    this.#session.notify({ kind: 'retention-near', queue, leftMs: Math.max(0, RETENTION_MS - ageMs) });
  }
}
