import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RabbitmqServer, startRabbitmq } from '../src/index.ts';
import { settlesWithin } from './eventually.ts';

let server: RabbitmqServer;

beforeAll(async () => {
  server = await startRabbitmq();
});

afterAll(() => server.destroy());

/** Whether a broker greets on the port; null: nobody answers, neither yes nor no. */
function greets(): Promise<boolean | null> {
  return new Promise((resolve) => {
    const socket = connect(server.port, server.host);
    const end = (answer: boolean | null): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, () => end(null));
    socket.on('connect', () => socket.write(Buffer.from([...Buffer.from('AMQP'), 0, 0, 9, 1])));
    socket.on('data', () => end(true));
    socket.on('error', () => end(false));
  });
}

describe('a private RabbitMQ server', () => {
  it('says where and what it is, and greets', async () => {
    expect(server.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(new URL(server.url)).toMatchObject({
      protocol: 'amqp:',
      hostname: '127.0.0.1',
      port: String(server.port),
    });
    expect(await greets()).toBe(true);
  });

  it.each(['stop', 'kill'] as const)(
    'is away after %s and back after start, on the same port',
    async (how) => {
      await server[how]();
      expect(await greets()).toBe(false);
      await server.start();
      await server.start();
      expect(await greets()).toBe(true);
    },
  );

  it('answers nothing while it is paused', async () => {
    await server.pause();
    expect(await greets()).toBeNull();
    await server.resume();
    expect(await greets()).toBe(true);
  });

  it('is controlled by its own program, and fails with what that printed', async () => {
    expect(await server.control('status')).toContain('RabbitMQ version');
    await expect(server.control('no_such_command')).rejects.toThrow('no_such_command');
    await server.setMemoryAlarm(true);
    expect(await server.control('status')).toContain('emory');
    await server.setMemoryAlarm(false);
    await server.closeConnections();
  });

  it('leaves nothing when it is destroyed', async () => {
    const other = await startRabbitmq();
    const { port } = other;
    const folders = await other.control('eval', 'rabbit_mnesia:dir().');
    const folder = /"([^"]+)"/.exec(folders)?.[1] ?? '';
    expect(existsSync(folder)).toBe(true);
    await settlesWithin(other.destroy(), 20_000);
    expect(existsSync(folder)).toBe(false);
    expect(port).not.toBe(server.port);
    await expect(other.start()).rejects.toThrow('destroyed');
  });
});
