import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { withDeadline } from '../machine/deadline.ts';
import { freezeTree, killTree, signal, thawTree } from '../machine/process-tree.ts';
import { mustRun } from '../machine/run-command.ts';
import { startWatchdog, type Watchdog } from '../machine/watchdog.ts';
import { awaitGreeting } from './await-greeting.ts';
import { type BrokerFolder, type BrokerPlace, environment, logTail } from './broker-folder.ts';
import { type Installation, SCRIPTS } from './installation.ts';

const STOP_LIMIT_MS = 60_000;
const CONTROL_LIMIT_MS = 60_000;

/** One broker's processes: its own port mapper, and the node itself, which is another process after each start. */
export class BrokerProcess {
  readonly #installation: Installation;
  readonly #place: BrokerPlace;
  readonly #folder: BrokerFolder;
  /** Null: another node of the cluster has it. */
  readonly #mapper: ChildProcess | null;
  #node: ChildProcess | null = null;
  /** Ends the processes of this start when our process is gone. */
  #watchdog: Watchdog | null = null;

  constructor(installation: Installation, place: BrokerPlace, folder: BrokerFolder, hasMapper = true) {
    this.#installation = installation;
    this.#place = place;
    this.#folder = folder;
    const mapper = ['-port', String(place.epmdPort), '-address', '127.0.0.1'];
    this.#mapper = hasMapper ? this.#spawn('/usr/bin/epmd', mapper, 'ignore') : null;
  }

  /** Resolves with the version once it greets. */
  async start(): Promise<string> {
    const console = await open(join(this.#folder.outside, 'console'), 'a');
    const node = this.#spawn(`${SCRIPTS}/rabbitmq-server`, [], console.fd);
    await console.close();
    this.#node = node;
    this.#watchdog?.dismiss();
    this.#watchdog = startWatchdog(REMOVE_BY_SHELL, [
      String(node.pid),
      String(this.#mapper?.pid ?? ''),
      this.#folder.outside,
    ]);
    try {
      return await awaitGreeting(this.#place.port, () => (hasEnded(node) ? 'the broker ended' : undefined));
    } catch (error) {
      await this.kill();
      const tail = await logTail(this.#folder, this.#place.nodeName);
      throw new Error(`RabbitMQ did not start on port ${this.#place.port}:\n${tail}`, { cause: error });
    }
  }

  async stop(): Promise<void> {
    const node = this.#node;
    if (node?.pid === undefined || hasEnded(node)) return;
    const ended = once(node, 'exit');
    signal(node.pid, 'SIGTERM');
    await withDeadline(ended, STOP_LIMIT_MS, () => 'RabbitMQ did not stop after SIGTERM');
  }

  async kill(): Promise<void> {
    const node = this.#node;
    if (node?.pid === undefined || hasEnded(node)) return;
    const ended = once(node, 'exit');
    await killTree(node.pid);
    // The deadline's timer also keeps this process alive, which the unreferenced broker does not.
    await withDeadline(ended, 10_000, () => 'RabbitMQ did not end after SIGKILL');
  }

  async pause(): Promise<void> {
    if (this.#node?.pid !== undefined) await freezeTree(this.#node.pid);
  }

  async resume(): Promise<void> {
    if (this.#node?.pid !== undefined) await thawTree(this.#node.pid);
  }

  control(args: readonly string[]): Promise<string> {
    const { root, user } = this.#installation;
    const program = `${SCRIPTS}/rabbitmqctl`;
    const env = environment(this.#folder, this.#place);
    const options = { timeoutMs: CONTROL_LIMIT_MS, cwd: '/', env };
    if (root === null) return mustRun(program, args, { ...options, user });
    return mustRun('chroot', [...userOf(user), root, program, ...args], options);
  }

  async end(): Promise<void> {
    await this.kill();
    if (this.#mapper?.pid !== undefined && !hasEnded(this.#mapper)) {
      const ended = once(this.#mapper, 'exit');
      await killTree(this.#mapper.pid);
      await withDeadline(ended, 10_000, () => 'epmd did not end after SIGKILL');
    }
    this.#watchdog?.dismiss();
  }

  #spawn(program: string, args: readonly string[], output: number | 'ignore'): ChildProcess {
    const { root, user } = this.#installation;
    const [command, all] =
      root === null ? [program, args] : ['chroot', [...userOf(user), root, program, ...args]];
    const child = spawn(command, all, {
      // Its own session: Ctrl-C reaches the tests, which then end the broker, and not both at once.
      detached: true,
      stdio: ['ignore', output, output],
      cwd: '/',
      env: environment(this.#folder, this.#place),
      ...(root === null ? user : {}),
    });
    child.on('error', () => undefined);
    child.unref();
    return child;
  }
}

function userOf(user: Installation['user']): readonly string[] {
  return user === undefined ? [] : [`--userspec=${user.uid}:${user.gid}`];
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/**
 * $1 is the leader of the node's session, $2 that of the port mapper, $3 the folder. A number counts only while it leads
 * a group whose environment names the folder: after a kill it may belong to somebody else.
 */
const REMOVE_BY_SHELL = `
for leader in "$1" "$2"; do
  if grep -qzF "$3" "/proc/$leader/environ" 2>/dev/null || [ ! -d /proc/self ]; then
    kill -CONT "-$leader"; kill -KILL "-$leader"
  fi
done 2>/dev/null
for pid in $(grep -lzF "HOME=$3/" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do kill -KILL "$pid"; done 2>/dev/null
sleep 1
rm -rf "$3"
`;
