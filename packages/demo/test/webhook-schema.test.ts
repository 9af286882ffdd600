import { describe, expect, it } from 'vitest';
import { DELIVERIES, EVENTS, MISFIT } from '../src/deliveries.ts';
import { jobsIn, QUEUE } from '../src/jobs.ts';

const jobs = jobsIn(QUEUE);

function issuesOf(event: string, payload: unknown): unknown {
  const result = jobs.get(event)?.input?.['~standard'].validate(payload);
  return result instanceof Promise ? 'asynchronous' : result?.issues;
}

describe('the schemas', () => {
  it('accept every real payload of every event', () => {
    expect(DELIVERIES).toHaveLength(329);
    expect(EVENTS).toHaveLength(58);
    for (const { event, payload } of DELIVERIES) expect(issuesOf(event, payload)).toBeUndefined();
  });

  it('refuse the misfit and what is no object', () => {
    expect(issuesOf(MISFIT.event, MISFIT.payload)).toEqual([
      { message: '"exploded" is no action of issues', path: ['action'] },
    ]);
    for (const value of [null, [], 'text', 1]) expect(issuesOf('push', value)).toHaveLength(1);
  });
});
