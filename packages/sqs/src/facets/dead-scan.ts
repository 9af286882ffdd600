import { type Call, LATE, timedOut, within } from '../call.ts';
import { type Received, receive } from '../claims/receive.ts';
import { readAttributes } from '../operations/attributes.ts';
import { MAX_ENTRIES } from '../service-limits.ts';
import type { Session } from '../session.ts';
import type { QueueUrls } from '../topology.ts';

/** A dead letter that was read. */
export type DeadEntry = Received & { readonly decoded: Extract<Received['decoded'], { envelope: unknown }> };

/** What is done with what was found, before the rest is shown again. */
export interface DeadScan<T> {
  /** Whether an entry is wanted, and whether the search may end with it. */
  readonly visit: (entry: DeadEntry) => { readonly wanted: boolean; readonly enough: boolean };
  /** The answer says which of them are gone; the others are shown again. */
  readonly act: (
    entries: readonly DeadEntry[],
    urls: QueueUrls,
    call: Call,
  ) => Promise<{ readonly result: T; readonly gone: readonly DeadEntry[] }>;
}

/** Added to the time of the call: nothing that is looked at may come back meanwhile. */
const HOLD_EXTRA_S = 5;
/** How long to wait for entries that somebody else holds. */
const OTHERS_MS = 6000;
/** A wait of this many seconds asks all parts of the service. */
const WAIT_S = 1;

/**
 * Looks through the dead letters of a queue: receives them, which hides them from everybody else, until there is enough or no more, and shows again what
 * was not removed. In any order, and a listing beside it may miss what is hidden just then.
 */
export async function scanDead<T>(
  session: Session,
  queue: string,
  call: Call,
  scan: DeadScan<T>,
): Promise<T> {
  return inTurn(session, queue, call, async () => {
    const urls = await session.topology.existing(queue, call);
    if (urls === null) return (await scan.act([], { ready: '', delay: '', dead: '' }, call)).result;
    const held: Received[] = [];
    let gone: readonly DeadEntry[] = [];
    try {
      const found = await search(session, queue, urls, call, scan.visit, held);
      const acted = await scan.act(found, urls, call);
      gone = acted.gone;
      return acted.result;
    } finally {
      const left = new Set<Received>(gone);
      const again = held.filter((each) => !left.has(each));
      const shown = { operation: call.operation, deadline: performance.now() + OTHERS_MS };
      await Promise.all(
        again.map(({ handle }) =>
          session.hider.add(urls.dead, { ReceiptHandle: handle, VisibilityTimeout: 0 }, shown),
        ),
      );
    }
  });
}

async function search(
  session: Session,
  queue: string,
  urls: QueueUrls,
  call: Call,
  visit: DeadScan<unknown>['visit'],
  held: Received[],
): Promise<readonly DeadEntry[]> {
  const { receiving: wire, requests, clock, beat } = session;
  const hiddenS = Math.ceil((call.deadline - performance.now()) / 1000) + HOLD_EXTRA_S;
  const othersUntil = Math.min(performance.now() + OTHERS_MS, call.deadline - 2 * WAIT_S * 1000);
  const found: DeadEntry[] = [];
  for (;;) {
    const { messages } = await receive(
      { wire, requests, clock, beat },
      { url: urls.dead, max: MAX_ENTRIES, hiddenS, waitS: WAIT_S },
      call,
    );
    held.push(...messages);
    if (messages.length > 0) session.retention.sawDead(queue, messages);
    let enough = false;
    for (const message of messages) {
      if (!isReadable(message) || enough) continue;
      const verdict = visit(message);
      if (verdict.wanted) found.push(message);
      enough = verdict.enough;
    }
    if (enough) return found;
    if (messages.length > 0) continue;
    if (performance.now() >= othersUntil || !(await areOthersLooking(session, urls, held.length, call)))
      return found;
  }
}

/** More is hidden than we hold, or visible although an answer was empty. */
async function areOthersLooking(
  session: Session,
  urls: QueueUrls,
  ours: number,
  call: Call,
): Promise<boolean> {
  const figures = await readAttributes(
    session,
    urls.dead,
    ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    call,
  );
  const visible = Number(figures.ApproximateNumberOfMessages ?? 0);
  return visible + Number(figures.ApproximateNumberOfMessagesNotVisible ?? 0) > ours;
}

function isReadable(message: Received): message is DeadEntry {
  return 'envelope' in message.decoded;
}

const turns = new WeakMap<Session, Map<string, Promise<unknown>>>();

/** One at a time in this process: two would hide entries from each other. */
async function inTurn<T>(session: Session, queue: string, call: Call, work: () => Promise<T>): Promise<T> {
  const own = turns.get(session) ?? new Map<string, Promise<unknown>>();
  turns.set(session, own);
  const before = own.get(queue) ?? Promise.resolve();
  const mine = before
    .catch(() => undefined)
    .then(() => {
      // Whoever asked has been told by now.
      if (performance.now() >= call.deadline) throw timedOut(call.operation);
      return work();
    });
  own.set(
    queue,
    mine.catch(() => undefined),
  );
  const result = await within(mine, call.deadline);
  if (result === LATE) throw timedOut(call.operation);
  return result;
}
