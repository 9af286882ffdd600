/** Something with a time limit, kept in a list per length. Fields belong to the list. */
export interface Timed {
  timeoutAt: number;
  timedPrevious: Timed | null;
  timedNext: Timed | null;
}

interface List {
  first: Timed | null;
  last: Timed | null;
}

/**
 * Time limits of running attempts. One list per length, in order of start: adding and removing is O(1), and one coarse
 * timer serves all, where a setTimeout per job costs more than a short job itself. No length overflows a timer.
 */
export class TimeoutLists {
  readonly #lists = new Map<number, List>();

  add(item: Timed, timeoutMs: number, now: number): void {
    let list = this.#lists.get(timeoutMs);
    if (list === undefined) this.#lists.set(timeoutMs, (list = { first: null, last: null }));
    item.timeoutAt = now + timeoutMs;
    item.timedPrevious = list.last;
    item.timedNext = null;
    if (list.last === null) list.first = item;
    else list.last.timedNext = item;
    list.last = item;
  }

  remove(item: Timed, timeoutMs: number): void {
    const list = this.#lists.get(timeoutMs);
    if (list === undefined || (item.timedPrevious === null && list.first !== item)) return;
    if (item.timedPrevious === null) list.first = item.timedNext;
    else item.timedPrevious.timedNext = item.timedNext;
    if (item.timedNext === null) list.last = item.timedPrevious;
    else item.timedNext.timedPrevious = item.timedPrevious;
    item.timedPrevious = null;
    item.timedNext = null;
  }

  /** Takes out and returns all whose time is over. */
  takeDue(now: number): Timed[] {
    const due: Timed[] = [];
    for (const [timeoutMs, list] of this.#lists) {
      while (list.first !== null && list.first.timeoutAt <= now) {
        due.push(list.first);
        this.remove(list.first, timeoutMs);
      }
      if (list.first === null) this.#lists.delete(timeoutMs);
    }
    return due;
  }
}
