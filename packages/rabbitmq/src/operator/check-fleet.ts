import type { Finding } from '@surety/core/operator';
import { note, ok, orFine, problem } from './findings.ts';
import { itemsOf, type Management } from './management.ts';

/** Nodes, alarms, partitions. Answers the number of nodes too. */
export async function checkNodes(
  api: Management,
): Promise<{ readonly nodes: number; readonly findings: readonly Finding[] }> {
  const columns = 'name,running,mem_alarm,disk_free_alarm,mem_used,mem_limit,disk_free,partitions';
  const nodes = itemsOf(await api.get(`nodes?columns=${columns}`));
  const findings = nodes.flatMap((node) => findingsOf(node));
  const running = nodes.filter((node) => node['running'] === true).length;
  const fine = ok('nodes', `${running} of ${nodes.length} run, without an alarm`);
  return { nodes: nodes.length, findings: orFine(findings, fine) };
}

function findingsOf(node: Readonly<Record<string, unknown>>): readonly (Finding | null)[] {
  const name = String(node['name']);
  if (node['running'] !== true) {
    return [
      problem('nodes', `${name} is down`, 'Start it: queues with a majority elsewhere go on meanwhile.'),
    ];
  }
  const partitions = Array.isArray(node['partitions']) ? node['partitions'].map(String) : [];
  return [
    node['mem_alarm'] === true
      ? problem(
          'memory',
          `${name} has raised the memory alarm: nothing can be enqueued anywhere in the cluster`,
          'Let workers catch up, discard dead letters, or raise vm_memory_high_watermark.',
        )
      : null,
    node['disk_free_alarm'] === true
      ? problem(
          'disk',
          `${name} has raised the disk alarm: nothing can be enqueued anywhere in the cluster`,
          "Make room on the node's disk.",
        )
      : null,
    partitions.length > 0
      ? problem(
          'nodes',
          `${name} does not see ${partitions.join(', ')}`,
          'Mend the network; then restart the nodes of the smaller part.',
        )
      : null,
  ];
}

/** Flags that are off keep a broker from its next version, and some from having quorum queues at all. */
export async function checkFlags(api: Management): Promise<readonly Finding[]> {
  const flags = itemsOf(await api.get('feature-flags'));
  const quorum = flags.find((flag) => flag['name'] === 'quorum_queue');
  if (quorum !== undefined && quorum['state'] !== 'enabled') {
    const remedy = 'rabbitmqctl enable_feature_flag quorum_queue';
    return [problem('feature-flags', 'quorum_queue is off: no queue of Surety can be made', remedy)];
  }
  const off = flags
    .filter((flag) => flag['stability'] !== 'experimental' && flag['state'] === 'disabled')
    // Those of plugins change what is shown, not what is stored.
    .filter((flag) => flag['provided_by'] === 'rabbit')
    .map((flag) => String(flag['name']));
  if (off.length === 0) return [ok('feature-flags', 'all that are stable are on')];
  const what = `off: ${off.slice(0, 5).join(', ')}${off.length > 5 ? ', ...' : ''}; the next version may need them`;
  return [
    note('feature-flags', what, 'When all nodes have the same version: rabbitmqctl enable_feature_flag all'),
  ];
}
