import type { Received } from '../claims/receive.ts';
import { RETENTION_MS } from '../service-limits.ts';
import type { Session } from '../session.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** From this age on jobs are told of: there is as much time left to act as has passed. */
const NEAR_MS = RETENTION_MS / 2;
/** The same is told again after this long. */
const AGAIN_MS = 60 * 60 * 1000;

/** Tells of ready jobs that nobody takes, and of dead letters that nobody sees to: the service drops a message 14 days after it was sent, and says nothing. */
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

  /** Dead letters were looked at; they were sent when they died. */
  sawDead(queue: string, messages: readonly Pick<Received, 'sentAt'>[]): void {
    const oldest = Math.min(...messages.map(({ sentAt }) => sentAt));
    const ageMs = this.#session.clock.earliest() - oldest;
    if (!this.#isDue(`dead ${queue}`, ageMs)) return;
    const days = Math.max(0, (RETENTION_MS - ageMs) / DAY_MS).toFixed(1);
    this.#session.notify({
      kind: 'warning',
      code: 'DEAD_LETTERS_EXPIRE',
      message: `SQS will drop dead letters of queue "${queue}" in ${days} days: redrive or discard them before.`,
    });
  }

  #judge(queue: string, ageMs: number): void {
    if (!this.#isDue(queue, ageMs)) return;
    this.#session.notify({ kind: 'retention-near', queue, leftMs: Math.max(0, RETENTION_MS - ageMs) });
  }

  #isDue(what: string, ageMs: number): boolean {
    const now = performance.now();
    const toldAgoMs = now - (this.#told.get(what) ?? Number.NEGATIVE_INFINITY);
    if (!(ageMs >= NEAR_MS) || toldAgoMs < AGAIN_MS) return false;
    this.#told.set(what, now);
    return true;
  }
}
