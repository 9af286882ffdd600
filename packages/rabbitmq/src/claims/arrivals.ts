import type { Message } from 'amqplib';

/** This part of what is coming is waited for: the rest may have gone to another worker meanwhile. */
const MOST = 0.9;
/** From the first of them on: the broker sends in small packets, with less than 1 ms between those of one moment. */
const GATHER_MS = 2;
/**
 * For that first one. What was acknowledged makes room only once it is written, which takes a disk a few ms; who gave up sooner came away empty and settled the
 * next jobs one by one. Where another worker took them, this is for how long a settling call is held up for nothing.
 */
const FIRST_MS = 10;

/** Turns of the event loop: short handlers end in the first, the second sends their acknowledgements, in the third amqplib writes them. */
const TURNS_APART = 3;

interface Gathering {
  readonly max: number;
  /** So many are enough. */
  readonly enough: number;
  readonly resolve: (messages: Message[]) => void;
  timer: NodeJS.Timeout;
  /** None had come when its timer was set. */
  isFirst: boolean;
}

/** What was delivered and is claimed by nobody yet, in order. */
export class Arrivals {
  readonly #arrived: () => void;
  readonly #messages: Message[] = [];
  /** The oldest first: they are served in that order. */
  readonly #gatherings: Set<Gathering> = new Set();
  #isTelling = false;
  #isApart = false;

  /** `arrived` is called when some are there, once all that came at the same moment has been read. */
  constructor(arrived: () => void) {
    this.#arrived = arrived;
  }

  get count(): number {
    return this.#messages.length;
  }

  add(message: Message): void {
    this.#messages.push(message);
    if (this.#isTelling) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      this.#tell();
    });
  }

  take(max: number): Message[] {
    return this.#messages.splice(0, max);
  }

  /** In front of all others, as they were. */
  putBack(messages: readonly Message[]): void {
    this.#messages.unshift(...messages);
  }

  /**
   * Up to `max`, once most of them are there of the `coming` that were delivered or are certain to be, or after a moment what is there then. Whoever took the first
   * few of fifty would settle them by themselves, and a settlement costs the broker almost the same for one and for fifty.
   */
  gather(max: number, coming: number): Promise<Message[]> {
    let left = coming;
    for (const other of this.#gatherings) left -= other.max;
    const share = Math.min(max, left);
    if (share <= 0) return Promise.resolve([]);
    const enough = share * MOST;
    if (this.#gatherings.size === 0 && !this.#isApart && this.count >= enough) {
      this.#keepApart();
      return Promise.resolve(this.take(max));
    }
    return new Promise((resolve) => {
      const isFirst = this.count === 0;
      const gathering: Gathering = {
        max,
        enough,
        resolve,
        isFirst,
        timer: this.#timer(() => gathering, isFirst),
      };
      this.#gatherings.add(gathering);
    });
  }

  /** Whoever gathers takes them before anybody else is told. */
  #tell(): void {
    if (this.#isApart) return;
    const [gathering] = this.#gatherings;
    if (gathering === undefined) {
      if (this.count > 0) this.#arrived();
    } else if (this.count >= gathering.enough) {
      this.#end(gathering);
    } else if (this.count > 0 && gathering.isFirst) {
      clearTimeout(gathering.timer);
      gathering.isFirst = false;
      gathering.timer = this.#timer(() => gathering, false);
    }
  }

  /**
   * Two who gather get theirs some turns apart, even if all came at once: then the broker is at work on what the first acknowledges while the jobs of the second
   * run. Served together they would go on together, the broker and this process each waiting for the other.
   */
  #keepApart(): void {
    this.#isApart = true;
    let turns = TURNS_APART;
    const turn = (): void => {
      turns -= 1;
      if (turns > 0) return void setImmediate(turn);
      this.#isApart = false;
      this.#tell();
    };
    setImmediate(turn);
  }

  #timer(whose: () => Gathering, isFirst: boolean): NodeJS.Timeout {
    return setTimeout(() => this.#end(whose()), isFirst ? FIRST_MS : GATHER_MS);
  }

  #end(gathering: Gathering): void {
    clearTimeout(gathering.timer);
    this.#gatherings.delete(gathering);
    this.#keepApart();
    gathering.resolve(this.take(gathering.max));
  }
}
