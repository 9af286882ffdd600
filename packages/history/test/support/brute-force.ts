/** A call of one job's life. Sent at the beginning of step `from`, answered at the end of step `to`; done within one of them, or perhaps never. */
export type Call = { readonly from: number; readonly to: number } & (
  | { readonly verb: 'enqueue'; readonly answer: 'accepted' | 'unknown' }
  /** An answer without the job proves nothing. */
  | { readonly verb: 'claim'; readonly answer: Got | 'nothing' | 'unknown' }
  /** Of the lease that the claim with this index brought. */
  | {
      readonly verb: 'settle';
      readonly claim: number;
      readonly does: 'complete' | 'retry';
      readonly answer: 'settled' | 'lease-lost' | 'unknown';
    }
);

interface Got {
  readonly attempt: number;
  readonly fence: number;
}

/** What was seen of one job, and what the store held of it at the end. */
export interface Seen {
  readonly calls: readonly Call[];
  readonly held: boolean;
}

interface State {
  readonly at: 'nowhere' | 'waiting' | 'leased' | 'gone';
  readonly holder: number;
  readonly until: number;
  readonly attempts: number;
  readonly claims: number;
}

const STEP_MS = 100;
const LEASE_STEPS = 3;
const NOWHERE: State = { at: 'nowhere', holder: -1, until: 0, attempts: 0, claims: 0 };

/** Tries every order and moment in which the calls can have been done: whether any of them gives what was seen. */
export function isPossible({ calls, held }: Seen): boolean {
  const last = calls.reduce((most, { to }) => Math.max(most, to), 0);
  const open = new Set(calls.keys());
  const search = (step: number, state: State): boolean => {
    if (step > last) return (state.at !== 'nowhere' && state.at !== 'gone') === held;
    for (const [index, call] of calls.entries()) {
      if (!open.has(index) || call.from > step || call.to < step) continue;
      const after = done(call, index, step, state);
      if (after === null) continue;
      open.delete(index);
      const found = search(step, after);
      open.add(index);
      if (found) return true;
    }
    // What must have been done by now and was not, rules this order out.
    const late = [...open].some(
      (index) => (calls[index] as Call).to === step && mustBeDone(calls[index] as Call),
    );
    return !late && search(step + 1, state);
  };
  return search(0, NOWHERE);
}

/** The state after a call; null: it would have been answered otherwise. */
function done(call: Call, index: number, step: number, state: State): State | null {
  if (call.verb === 'enqueue') return state.at === 'nowhere' ? { ...state, at: 'waiting' } : null;
  if (call.verb === 'claim') {
    const isFree = state.at === 'waiting' || (state.at === 'leased' && step >= state.until);
    if (call.answer === 'nothing' || !isFree) return null;
    const attempt = state.attempts + 1;
    const fence = state.claims + 1;
    if (call.answer !== 'unknown' && (call.answer.attempt !== attempt || call.answer.fence !== fence))
      return null;
    return { at: 'leased', holder: index, until: step + LEASE_STEPS, attempts: attempt, claims: fence };
  }
  const isHeld = state.at === 'leased' && state.holder === call.claim && step < state.until;
  if (call.answer === 'lease-lost') return isHeld ? null : state;
  if (!isHeld) return null;
  return { ...state, at: call.does === 'complete' ? 'gone' : 'waiting', holder: -1 };
}

function mustBeDone({ answer }: Call): boolean {
  return answer !== 'unknown' && answer !== 'nothing';
}

/** The same as a trace of one process. */
export function traceOf({ calls, held }: Seen): string {
  const id = '01890a5d-ac96-774b-bcce-b302099a8057';
  const lines: { readonly at: number; readonly event: object }[] = [];
  const lease = { endsBy: 'time', reclaimBoundMs: 50, marginMs: 0 };
  lines.push({ at: 0, event: { kind: 'open', v: 1, host: 'h', pid: 1, wall: '' } });
  lines.push({
    at: 0,
    event: { kind: 'backend', name: 'b', moves: 'atomic', attempts: 'exact', fence: 'monotonic', ...lease },
  });
  for (const [index, call] of calls.entries()) {
    const at = call.from * STEP_MS + 1;
    const ansAt = call.to * STEP_MS + 60;
    const answer = (event: object): void => {
      if (call.answer !== 'unknown') lines.push({ at: ansAt, event: { ...event, call: index } });
    };
    const nonce = `nonce-${index}`;
    if (call.verb === 'enqueue') {
      lines.push({
        at,
        event: { kind: 'enqueue', call: index, jobs: [{ id, queue: 'q', maxAttempts: 99 }] },
      });
      answer({ kind: 'enqueued', outcomes: ['accepted'] });
    } else if (call.verb === 'claim') {
      lines.push({
        at,
        event: { kind: 'claim', call: index, queue: 'q', max: 1, leaseMs: LEASE_STEPS * STEP_MS, nonce },
      });
      const got = typeof call.answer === 'object' ? [{ lease: index, id, nonce, ...call.answer }] : [];
      answer({ kind: 'claimed', leasedAt: at, leases: got });
    } else {
      const settlement = { lease: call.claim, id, do: call.does, code: 'X' };
      lines.push({ at, event: { kind: 'settle', call: index, settlements: [settlement] } });
      answer({ kind: 'settled', outcomes: [call.answer] });
    }
  }
  const end = 1e6;
  const found = held ? { jobs: [{ id, state: 'ready' }] } : { jobs: [], absent: [id] };
  lines.push({ at: end, event: { kind: 'found', queue: 'q', ...found } });
  lines.push({
    at: end,
    event: {
      kind: 'final',
      queue: 'q',
      ready: held ? 1 : 0,
      scheduled: 0,
      leased: 0,
      dead: 0,
      deadListed: true,
    },
  });
  return lines
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, event }, index) => `${JSON.stringify({ ...event, process: 'p', seq: index + 1, at })}\n`)
    .join('');
}
