import { PauseAfterFailure } from '../retry/pause-after-failure.ts';

/** Spacing of the calls of one queue. A settle that succeeds says nothing of the claims that fail, nor the other way round. */
export class CallPause {
  readonly #pause = new PauseAfterFailure();
  readonly #failing = new Set<'claim' | 'settle'>();

  get isFailing(): boolean {
    return this.#failing.size > 0;
  }
  fails(what: 'claim' | 'settle'): boolean {
    return this.#failing.has(what);
  }

  /** The answer is how long no call is made, in ms. */
  failed(what: 'claim' | 'settle'): number {
    this.#failing.add(what);
    return this.#pause.failed();
  }

  succeeded(what: 'claim' | 'settle'): void {
    if (this.#failing.delete(what) && this.#failing.size === 0) this.#pause.succeeded();
  }
}
