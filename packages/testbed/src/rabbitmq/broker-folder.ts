import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Installation } from './installation.ts';

/** Everything a private broker has on disk. Paths as this system sees them, and as the broker does after its root was changed. */
export interface BrokerFolder {
  readonly outside: string;
  readonly inside: string;
}

export interface BrokerPlace {
  readonly nodeName: string;
  readonly port: number;
  readonly distributionPort: number;
  readonly epmdPort: number;
  readonly user: string;
  readonly password: string;
  /** The same in all nodes of a cluster; anything for one that stands alone. */
  readonly cookie: string;
}

const ADVANCED: readonly string[] = [
  // Acknowledgements that never come are looked for every two seconds, not once a minute.
  '{channel_tick_interval,2000}',
  // What was on its way from one queue to the next when a node was lost is sent again after this time, not after three minutes.
  '{dead_letter_worker_publisher_confirm_timeout,5000}',
];

export async function makeBrokerFolder(
  { root, user }: Installation,
  place: BrokerPlace,
): Promise<BrokerFolder> {
  const parent = root === null ? tmpdir() : join(root, 'tmp');
  const outside = await mkdtemp(join(parent, 'surety-rabbitmq-'));
  const inside = root === null ? outside : outside.slice(root.length);
  for (const name of ['data', 'log', 'home']) await mkdir(join(outside, name));
  const files: Readonly<Record<string, string>> = {
    'rabbitmq.conf': settings(place),
    'advanced.config': `[{rabbit,[${ADVANCED.join(',')}]}].\n`,
    enabled_plugins: '[].\n',
    'home/.erlang.cookie': place.cookie,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(outside, name), text);
  await chmod(join(outside, 'home/.erlang.cookie'), 0o400);
  if (user !== undefined) {
    const names = ['', 'data', 'log', 'home', ...Object.keys(files)];
    for (const name of names) await chown(join(outside, name), user.uid, user.gid);
  }
  return { outside, inside };
}

function settings(place: BrokerPlace): string {
  return [
    `listeners.tcp.1 = 127.0.0.1:${place.port}`,
    `default_user = ${place.user}`,
    `default_pass = ${place.password}`,
    // A full disk of this machine shall not look like a fault of the broker, unless it is really full.
    'disk_free_limit.absolute = 50MB',
    'log.file.level = info',
    '',
  ].join('\n');
}

/** What the scripts of RabbitMQ read. */
export function environment(folder: BrokerFolder, place: BrokerPlace): Record<string, string> {
  const { inside } = folder;
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: `${inside}/home`,
    LANG: 'C.UTF-8',
    // The system's own file would override what stands here.
    RABBITMQ_CONF_ENV_FILE: `${inside}/none`,
    RABBITMQ_NODENAME: place.nodeName,
    RABBITMQ_NODE_PORT: String(place.port),
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_DIST_PORT: String(place.distributionPort),
    RABBITMQ_MNESIA_BASE: `${inside}/data`,
    RABBITMQ_LOG_BASE: `${inside}/log`,
    RABBITMQ_CONFIG_FILE: `${inside}/rabbitmq.conf`,
    RABBITMQ_ADVANCED_CONFIG_FILE: `${inside}/advanced.config`,
    RABBITMQ_ENABLED_PLUGINS_FILE: `${inside}/enabled_plugins`,
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+sbwt none -kernel inet_dist_use_interface {127,0,0,1}',
    ERL_EPMD_PORT: String(place.epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_CRASH_DUMP: '/dev/null',
    // The script becomes the broker, and SIGTERM reaches it: as its parent it ends before the broker does.
    RUNNING_UNDER_SYSTEMD: 'true',
  };
}

export async function logTail({ outside }: BrokerFolder, nodeName: string): Promise<string> {
  const files = ['console', `log/${nodeName}.log`];
  const texts = await Promise.all(
    files.map((name) => readFile(join(outside, name), 'utf8').catch(() => `(no ${name})`)),
  );
  return texts.map((text) => text.split('\n').slice(-25).join('\n')).join('\n');
}

export async function removeBrokerFolder({ outside }: BrokerFolder): Promise<void> {
  await rm(outside, { recursive: true, force: true, maxRetries: 3 });
}
