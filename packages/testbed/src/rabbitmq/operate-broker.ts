import { freePort } from '../machine/free-port.ts';
import type { BrokerPlace } from './broker-folder.ts';
import type { BrokerProcess } from './broker-process.ts';
import type { RabbitmqServer } from './rabbitmq-server.ts';

type State = 'running' | 'paused' | 'down' | 'destroyed';

/** Puts order on the operations: one at a time, and only those that the state allows. */
export function operateBroker(
  broker: BrokerProcess,
  place: BrokerPlace,
  version: string,
  remove: () => Promise<void>,
): RabbitmqServer {
  let state: State = 'running';
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(operation: () => Promise<T>): Promise<T> => {
    const turn = last.then(operation);
    // A failure is for its caller; the next operation only waits.
    last = turn.catch(() => undefined);
    return turn;
  };
  const from = (states: readonly State[], to: State, act: () => Promise<unknown>) => () =>
    inTurn(async () => {
      if (state === 'destroyed') throw new Error('this broker has been destroyed');
      if (!states.includes(state)) return;
      await act();
      state = to;
    });
  const destroy = (): Promise<void> =>
    inTurn(async () => {
      if (state === 'destroyed') return;
      state = 'destroyed';
      await remove();
    });
  const control = (...args: readonly string[]): Promise<string> => broker.control(args);
  return {
    url: `amqp://${place.user}:${place.password}@127.0.0.1:${place.port}`,
    host: '127.0.0.1',
    port: place.port,
    version,
    control,
    stop: from(['running', 'paused'], 'down', async () => {
      // A frozen process cannot end in good order.
      if (state === 'paused') await broker.resume();
      await broker.stop();
    }),
    start: from(['down'], 'running', () => broker.start()),
    kill: from(['running', 'paused'], 'down', () => broker.kill()),
    pause: from(['running'], 'paused', () => broker.pause()),
    resume: from(['paused'], 'running', () => broker.resume()),
    async closeConnections() {
      await control('close_all_connections', 'closed by a test');
    },
    async setMemoryAlarm(on) {
      const verb = on
        ? 'set_alarm({{resource_limit, memory, node()}, []})'
        : 'clear_alarm({resource_limit, memory, node()})';
      await control('eval', `rabbit_alarm:${verb}.`);
    },
    async startManagement() {
      const port = await freePort();
      await control('eval', enableManagement(port));
      return `http://127.0.0.1:${port}`;
    },
    destroy,
    [Symbol.asyncDispose]: destroy,
  };
}

/** What `rabbitmq-plugins` does, and the port before that: without one it takes the port that is everybody's. */
function enableManagement(port: number): string {
  return [
    '{ok, File} = application:get_env(rabbit, enabled_plugins_file)',
    'application:load(rabbitmq_management)',
    `application:set_env(rabbitmq_management, tcp_config, [{port, ${port}}, {ip, "127.0.0.1"}])`,
    'ok = file:write_file(File, "[rabbitmq_management].")',
    '{ok, _, _} = rabbit_plugins:ensure(File).',
  ].join(', ');
}
