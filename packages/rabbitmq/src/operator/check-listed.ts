import type { Finding } from '@surety/core/operator';
import { note, ok, orFine, problem } from './findings.ts';
import type { ListedQueue } from './listed-queues.ts';

/** What a policy can do to queues whose arguments say otherwise: the lower figure wins, and some arguments are not ours. */
const HARMFUL: Readonly<Record<string, string>> = {
  'delivery-limit': 'takes jobs away that come back too often, whatever their retries say',
  'message-ttl': 'ends jobs that wait, whatever they wait for',
  'max-length': 'refuses jobs when the queue is full',
  'max-length-bytes': 'refuses jobs when the queue is full',
  expires: 'deletes queues with the jobs in them',
  'consumer-timeout': 'takes jobs away from who works on them',
};
/** What the arguments say: a policy of that figure undercuts nothing. */
const NO_LIMIT = 2 ** 31 - 1;

/** Policies that undercut the arguments. */
export function checkPolicies(listed: readonly ListedQueue[]): readonly Finding[] {
  const found = new Map<
    string,
    { readonly finding: (queues: string) => Finding; readonly queues: string[] }
  >();
  for (const { name, policies, settings } of listed) {
    for (const [key, value] of Object.entries(settings)) {
      const harm = HARMFUL[key];
      if (harm === undefined || Number(value) >= NO_LIMIT) continue;
      const by = policies.join(' and ');
      const finding = (queues: string): Finding =>
        problem(
          'policies',
          `the policy ${by} sets ${key} ${String(value)} on ${queues}: it ${harm}`,
          `Keep it away from Surety's queues: change its pattern, or rabbitmqctl clear_policy ${policies[0] ?? 'NAME'}`,
        );
      const same = found.get(`${by} ${key}`) ?? { finding, queues: [] };
      same.queues.push(name);
      found.set(`${by} ${key}`, same);
    }
  }
  const findings = [...found.values()].map(({ finding, queues }) => finding(someOf(queues)));
  return orFine(findings, ok('policies', 'none undercuts the arguments of a queue'));
}

/** Leaders and replicas of the queues. */
export function checkReplicas(listed: readonly ListedQueue[], nodes: number): readonly Finding[] {
  if (listed.length === 0) return [];
  const named = (is: (queue: ListedQueue) => boolean): string | null => {
    const names = listed.filter(is).map(({ name }) => name);
    return names.length === 0 ? null : someOf(names);
  };
  const stopped = named(isStopped);
  const thin = named((queue) => !isStopped(queue) && queue.online.length < queue.members.length);
  const alone = nodes < 2 ? null : named(({ members }) => members.length === 1);
  const single = nodes < 2 ? ', each on the only node' : `, on up to ${mostOf(listed)} nodes`;
  return orFine(
    [
      stopped === null
        ? null
        : problem(
            'replicas',
            `no majority of the replicas is online, or none leads: ${stopped}. Nothing can be stored there or claimed`,
            'Bring the nodes back that have them: rabbitmq-queues quorum_status NAME',
          ),
      thin === null
        ? null
        : note('replicas', `not all replicas are online: ${thin}`, 'Bring the nodes back that have them.'),
      alone === null
        ? null
        : note(
            'replicas',
            `only one replica in a cluster of ${nodes}: ${alone}. Jobs are away when its node is`,
            'Add replicas: rabbitmq-queues grow NODE all',
          ),
    ],
    ok('replicas', `${listed.length} queues have a leader and all their replicas${single}`),
  );
}

function isStopped({ leader, members, online }: ListedQueue): boolean {
  return leader === null || online.length * 2 <= members.length;
}

function mostOf(listed: readonly ListedQueue[]): number {
  return listed.reduce((most, { members }) => Math.max(most, members.length), 0);
}

/** The first three, and how many there are. */
function someOf(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ');
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}
