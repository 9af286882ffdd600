import { isUnknown, type Judgement } from './judgement.ts';

/** Every death has a reason, and it is the one that was given (G6.1, G6.6). */
export function judgeDeaths(judgement: Judgement): void {
  const { job, leases, buried, terms, births } = judgement;
  const mute = buried.find(({ code }) => code === null || code === '');
  if (mute !== undefined)
    return judgement.report(
      'dead-without-reason',
      [mute.ref, mute.ansRef],
      'It was buried without a reason.',
    );
  for (const { ref, state, reason, hasError } of job.found) {
    if (state !== 'dead') continue;
    const settles = leases.flatMap((lease) => lease.settles).filter(({ does }) => does === 'bury');
    const refs = [...settles.map((settle) => settle.ref), ref];
    if (reason === '' || hasError === false)
      return judgement.report('dead-without-reason', refs, 'Its dead letter holds no error.');
    const given = settles.map(({ code }) => code);
    if (reason !== null && given.length > 0 && !given.includes(reason)) {
      const what = `Its dead letter says ${reason}; it was buried with ${[...new Set(given)].join(' or ')}.`;
      return judgement.report('dead-without-reason', refs, what);
    }
    const isOurs = births.length > 0 && !terms.untracedProducers;
    const mayBeBuried = buried.length > 0 || leases.some((lease) => isUnknown(lease, 'bury'));
    if (isOurs && leases.length > 0 && !mayBeBuried)
      return judgement.report('dead-without-reason', refs, 'It is dead, and nobody buried it.');
  }
}
