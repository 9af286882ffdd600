import type { CallOptions } from '@surety/core/contract';
import type { Finding, StoreAddress } from '@surety/core/operator';
import { placeOf } from './address.ts';
import { checkLatency, checkPublishing, checkServer } from './check-broker.ts';
import { checkClock } from './check-clock.ts';
import { checkFlags, checkNodes } from './check-fleet.ts';
import { checkPolicies, checkReplicas } from './check-listed.ts';
import { checkQueue, checkShared } from './check-topology.ts';
import { note, tried } from './findings.ts';
import { listUnder, queuesIn } from './listed-queues.ts';
import { type Management, managementAt } from './management.ts';
import { checkTrials } from './trial.ts';
import { type Visit, visit } from './visit.ts';

/** Every check on its own: one that fails is a finding, and the others go on. */
export function diagnose(address: StoreAddress, options: CallOptions): Promise<readonly Finding[]> {
  const place = placeOf(address);
  return visit(place, 'diagnose', options, async (guest) => {
    const findings: Finding[] = [...checkServer(guest)];
    const add = async (check: string, run: () => Promise<readonly Finding[]>): Promise<void> => {
      findings.push(...(await tried(check, run)));
    };
    await add('latency', () => checkLatency(guest));
    await add('publishing', () => checkPublishing(guest));
    await add('clock', () => checkClock(guest));
    await add('schema', () => checkShared(guest));
    const queues = new Set(place.queues);
    if (place.management === null) findings.push(UNSEEN);
    else {
      const api = managementAt(place.management, guest.call);
      await add('management', () => checkByManagement(api, guest, queues));
    }
    for (const queue of queues) await add(`queue ${queue}`, () => checkQueue(guest, queue));
    await add('trials', () => checkTrials(guest));
    return findings;
  });
}

const UNSEEN: Finding = note(
  'management',
  'no management URL was given: alarms, policies, replicas, feature flags, and which queues there are, were not looked at',
  'Put ?management=http://HOST:15672 into the URL; its user needs the tag monitoring.',
);

/** Adds the job queues that it finds to `queues`. */
async function checkByManagement(
  api: Management,
  { place }: Visit,
  queues: Set<string>,
): Promise<readonly Finding[]> {
  const { nodes, findings } = await checkNodes(api);
  const listed = await listUnder(api, place.vhost, place.resolved.prefix);
  for (const queue of queuesIn(listed, place.resolved.prefix)) queues.add(queue);
  return [
    ...findings,
    ...(await tried('feature-flags', () => checkFlags(api))),
    ...checkPolicies(listed),
    ...checkReplicas(listed, nodes),
  ];
}
