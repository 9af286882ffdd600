import type { Backend, Claim, ClaimRequest, Lease, Settlement } from '@surety/core/contract';
import { override } from './override.ts';
import type { Point, Sabotage } from './worker-messages.ts';

/** Passes of points in a worker process. */
export interface Points {
  pass(point: Point, data: unknown): Promise<void>;
  go(point: Point): void;
}

/** Tells each pass; then waits or dies there, as ordered. */
export function pointsOf(
  { holds = {}, dies = [] }: Sabotage,
  tell: (name: string, data: unknown) => void,
): Points {
  const left = new Map(Object.entries(holds));
  const deaths = new Map(dies.map(({ at, afterMs }) => [at, afterMs]));
  const waiting = new Map<Point, (() => void)[]>();
  return {
    async pass(point, data) {
      tell(`at:${point}`, data);
      const afterMs = deaths.get(point);
      if (afterMs !== undefined) die(afterMs);
      const holdsLeft = left.get(point) ?? 0;
      if (holdsLeft <= 0) return;
      left.set(point, holdsLeft - 1);
      await new Promise<void>((resolve) => waiting.set(point, [...(waiting.get(point) ?? []), resolve]));
    },
    go(point) {
      const [first, ...others] = waiting.get(point) ?? [];
      waiting.set(point, others);
      first?.();
    },
  };
}

/** As hard as an OOM kill: nothing is flushed, no listener runs. */
function die(afterMs: number): void {
  const end = (): void => void process.kill(process.pid, 'SIGKILL');
  if (afterMs <= 0) end();
  else setTimeout(end, afterMs);
}

/** A backend whose calls pass the points, and whose leases end early where that is ordered. */
export function sabotaged(backend: Backend, points: Points, { endLeasesAfterMs }: Sabotage): Backend {
  const altered = <T extends Pick<ClaimRequest, 'leaseMs'>>(request: T): T =>
    endLeasesAfterMs === undefined ? request : { ...request, leaseMs: endLeasesAfterMs };
  const claimed = async (claim: Claim): Promise<Claim> => {
    if (claim.leases.length > 0) await points.pass('claimed', factsOf(claim.leases));
    return claim;
  };
  const settling = async <T>(settlements: readonly Settlement[], send: () => Promise<T>): Promise<T> => {
    if (settlements.length === 0) return send();
    const facts = settlements.map(({ kind, lease }) => ({ kind, ...factOf(lease) }));
    await points.pass('settling', facts);
    const answer = send();
    // A store that fails at once must not look like an unhandled rejection while a point is passed.
    answer.catch(() => undefined);
    await points.pass('settle-sent', facts);
    const outcome = await answer;
    await points.pass('settled', facts);
    return outcome;
  };
  const both = backend.settleAndClaim;
  return override(backend, {
    claim: async (request) => claimed(await backend.claim(altered(request))),
    async renew(leases, leaseMs, options) {
      await points.pass('renewing', factsOf(leases));
      if (endLeasesAfterMs === undefined) return backend.renew(leases, leaseMs, options);
      return leases.map(() => ({ status: 'renewed', leaseMs }));
    },
    settle: (settlements, options) => settling(settlements, () => backend.settle(settlements, options)),
    ...(both !== undefined && {
      settleAndClaim: async (settlements, request) => {
        const answer = await settling(settlements, () => both.call(backend, settlements, altered(request)));
        await claimed(answer.claim);
        return answer;
      },
    }),
  });
}

function factsOf(leases: readonly Lease[]): readonly object[] {
  return leases.map(factOf);
}

function factOf({ id, attempt, deliveries, lostClaims, token }: Lease): object {
  return { id, attempt, deliveries, lostClaims, nonce: token.nonce, fence: token.fence };
}
