import { makeBrokerFolder, removeBrokerFolder } from './broker-folder.ts';
import { freePlace, newSecrets } from './broker-place.ts';
import { BrokerProcess } from './broker-process.ts';
import { findRabbitmq, type Installation } from './installation.ts';
import { operateBroker } from './operate-broker.ts';
import type { RabbitmqServer, RabbitmqVersion } from './rabbitmq-server.ts';
import type { RabbitmqOptions } from './start-rabbitmq.ts';

/** Three nodes on this machine. Each is operated by itself; `destroy` ends all. */
export interface RabbitmqCluster extends AsyncDisposable {
  readonly nodes: readonly RabbitmqServer[];
  readonly version: string;
  /** The node that leads a queue, by its place in `nodes`; -1: none does. */
  leaderOf(queue: string): Promise<number>;
  destroy(): Promise<void>;
}

const NODES = 3;
const DEFAULT_VERSION: RabbitmqVersion = '3.10';

/** Starts a private cluster: quorum queues declared on it have a replica on each node. */
export async function startRabbitmqCluster(options: RabbitmqOptions = {}): Promise<RabbitmqCluster> {
  const installation = await findRabbitmq(options.version ?? DEFAULT_VERSION);
  const first = await freePlace(newSecrets());
  const names: string[] = [];
  const nodes: RabbitmqServer[] = [];
  const destroy = async (): Promise<void> => {
    // The first one last: it has the port mapper.
    for (const node of nodes.toReversed()) await node.destroy();
  };
  try {
    for (let n = 0; n < NODES; n++) {
      const place = n === 0 ? first : await freePlace(first);
      const node = await startNode(installation, place, n === 0);
      nodes.push(node);
      names.push(place.nodeName);
      if (n > 0) await join(node, first.nodeName);
    }
  } catch (error) {
    await destroy();
    throw error;
  }
  const [one] = nodes;
  if (one === undefined) throw new Error('a cluster without a node');
  return {
    nodes,
    version: one.version,
    async leaderOf(queue) {
      const table = await anyOf(nodes, ['list_queues', '--quiet', '--no-table-headers', 'name', 'leader']);
      const line = table.split('\n').find((each) => each.split('\t')[0] === queue);
      return names.indexOf(line?.split('\t')[1] ?? '');
    },
    destroy,
    [Symbol.asyncDispose]: destroy,
  };
}

async function startNode(
  installation: Installation,
  place: Awaited<ReturnType<typeof freePlace>>,
  hasMapper: boolean,
): Promise<RabbitmqServer> {
  const folder = await makeBrokerFolder(installation, place);
  const broker = new BrokerProcess(installation, place, folder, hasMapper);
  const remove = async (): Promise<void> => {
    await broker.end();
    await removeBrokerFolder(folder);
  };
  try {
    return operateBroker(broker, place, await broker.start(), remove);
  } catch (error) {
    await remove();
    throw error;
  }
}

async function join(node: RabbitmqServer, to: string): Promise<void> {
  await node.control('stop_app');
  await node.control('reset');
  await node.control('join_cluster', to);
  await node.control('start_app');
}

/** Asks the first node that answers. */
async function anyOf(nodes: readonly RabbitmqServer[], args: readonly string[]): Promise<string> {
  let failure: unknown = new Error('no node');
  for (const node of nodes) {
    try {
      return await node.control(...args);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
