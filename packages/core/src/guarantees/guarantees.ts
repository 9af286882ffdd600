/** A sub-clause of a promise. `proof`: asked of every backend by the suite, or of the core alone by its own tests. */
export interface Guarantee {
  readonly id: string;
  readonly text: string;
  readonly proof: 'backend' | 'core';
}

const asked = (id: string, text: string): Guarantee => Object.freeze({ id, text, proof: 'backend' });
const ours = (id: string, text: string): Guarantee => Object.freeze({ id, text, proof: 'core' });

/** The ten promises by name. */
export const PROMISES: Readonly<Record<string, string>> = Object.freeze({
  G1: 'durable intent',
  G2: 'at-least-once, one lease at a time per copy',
  G3: 'idempotency support',
  G4: 'bounded retry',
  G5: 'visibility',
  G6: 'a terminal state',
  G7: 'bounds',
  G8: 'time',
  G9: 'pacing',
  G10: 'clean life',
});

/** Every sub-clause, by stable id. Ids are never reused; a dropped clause keeps its number. */
export const GUARANTEES: readonly Guarantee[] = Object.freeze([
  asked('G1.1', 'accepted means stored: the job outlives the process that enqueued it'),
  asked(
    'G1.2',
    'enqueue ends within its time limit when the store is away, and says whether the job may be stored',
  ),
  asked('G1.3', 'items of a batch are judged one by one; a bad one never fails its neighbours'),
  asked('G1.4', "enqueue inside the caller's transaction: no commit, no job"),
  asked('G1.5', 'accepted jobs outlive a restart and a kill of the store'),
  asked('G1.6', 'a batch at the stated limit is stored whole'),
  asked('G2.1', 'only the holder of the current token renews or settles'),
  asked('G2.2', 'rivals on separate connections never hold one job at the same time'),
  asked('G2.3', 'a renewal counts from now, never added to an old end'),
  asked('G2.4', 'after its end a lease answers lease-lost, claimed again or not'),
  asked('G2.5', 'a late worker changes nothing'),
  asked('G2.6', 'a claim repeated with its nonce returns the same leases'),
  asked('G2.7', 'the fence grows with every claim of a job'),
  asked('G2.8', 'two settlements of one lease in a batch: the first counts, the second is lease-lost'),
  asked('G2.9', 'settle and claim in one call do what the two do apart'),
  asked(
    'G2.10',
    'a job whose holder died is claimable again within the stated bound, not before its lease ended',
  ),
  asked('G3.1', 'the idempotency key is the same over attempts, redelivery and redrive'),
  asked('G3.2', 'enqueueing an id that is still stored stores nothing and says so'),
  asked('G3.3', 'within its window a dedupe key admits one job; others learn its id'),
  asked('G3.4', 'after its window the key is free, whatever became of the job'),
  ours('G4.1', 'delay = min(base * 2^attempt, cap), then jitter from 0.5 to 1.5'),
  asked('G4.2', 'a retry is charged and due again after its delay'),
  asked('G4.3', 'a lost claim is charged as an attempt'),
  asked('G4.4', 'an orderly release is not charged'),
  asked('G4.5', 'never more starts than the limit; the worker buries what is past it without a start'),
  asked('G4.6', 'interruptions are counted apart from attempts and have a limit of their own'),
  asked('G4.7', 'an unknown type is put back unspent, and its age is known'),
  asked('G4.8', 'a job that lost its worker twice comes back with backoff'),
  asked('G5.1', 'ready, scheduled, leased and dead are counted from outside the workers'),
  asked('G5.2', 'the age of the oldest ready job counts from its due time'),
  asked('G5.3', 'queues are listed'),
  asked('G5.4', 'a job is found by id, with state, attempts and errors'),
  asked('G6.1', 'a buried job is in the dead letters with error, attempts and history'),
  asked('G6.2', 'dead letters are listed page by page, without moving them'),
  asked('G6.3', 'a redriven job starts anew with id, key, payload, headers and history'),
  asked('G6.4', 'two redrives at once move a job once'),
  asked('G6.5', 'a discarded dead letter is gone'),
  asked('G6.6', 'every road to final failure ends in the dead letters'),
  asked('G6.7', 'the error history is bounded'),
  ours('G7.1', 'every job has a finite timeout'),
  asked(
    'G7.2',
    'payloads come back verbatim up to the stated limit; larger ones are refused before anything is sent',
  ),
  asked('G7.3', 'past its maximum depth a queue refuses to enqueue, and nothing else'),
  ours('G7.4', 'bad input is refused with code and remedy before anything is sent'),
  asked('G8.1', "delays run on the store's clock, whatever the clocks of producers and workers say"),
  asked('G8.2', 'a job is never handed out before it is due, and soon after'),
  asked('G8.3', 'a delay may be a year long'),
  asked('G8.4', 'a better priority is claimed first, also after a retry'),
  asked('G9.1', 'a paused queue hands out nothing; running jobs finish'),
  asked('G9.2', 'a pause is durable and holds in every process'),
  asked('G9.3', 'nothing that moves during a pause is lost on resume'),
  ours('G9.4', 'work starts at no more than the set rate'),
  ours('G9.5', 'an unreachable store is asked with backoff, not in a loop'),
  asked('G10.1', 'processes that open at once do no harm; what cannot keep the promise is refused at open'),
  asked('G10.2', 'close ends within its time, also while the store is away or a claim is waiting'),
  asked(
    'G10.3',
    'a store that goes away and comes back is picked up again, cut or frozen connections included',
  ),
  asked('G10.4', 'health tells the time since the last successful claim and renewal'),
  asked('G10.5', 'a worker that stops hands its unfinished jobs back unharmed'),
  asked('G10.6', 'a broken connection never ends the process'),
]);
