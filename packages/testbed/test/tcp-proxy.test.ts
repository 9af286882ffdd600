import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../src/index.ts';
import { eventually, settlesWithin } from './eventually.ts';

let server: Server;
let proxy: TcpProxy;
/** What the server was sent, per connection, and whether that is still open. */
let seen: { text: string; open: boolean; ended: boolean; socket: Socket }[];
let clients: Socket[];

/** Answers everything with the same in capitals. */
beforeEach(async () => {
  seen = [];
  clients = [];
  server = createServer({ allowHalfOpen: true }, (socket) => {
    const record = { text: '', open: true, ended: false, socket };
    seen.push(record);
    socket.setEncoding('utf8');
    socket.on('error', () => undefined);
    socket.on('close', () => {
      record.open = false;
    });
    socket.on('end', () => {
      record.ended = true;
      socket.end('BYE');
    });
    socket.on('data', (text: string) => {
      record.text += text;
      socket.write(text.toUpperCase());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  proxy = await startTcpProxy({ host: '127.0.0.1', port });
});

afterEach(async () => {
  await proxy.close();
  for (const client of clients) client.destroy();
  for (const { socket } of seen) socket.destroy();
  server.close();
});

interface TestClient {
  readonly socket: Socket;
  readonly received: () => string;
  readonly closed: Promise<string>;
}

async function dial(): Promise<TestClient> {
  const socket = connect(proxy.port, proxy.host);
  clients.push(socket);
  let received = '';
  let reason = 'end';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  const closed = new Promise<string>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => {
      reason = error.code ?? error.message;
    });
    socket.on('close', () => resolve(reason));
  });
  await Promise.race([once(socket, 'connect'), closed.then((code) => Promise.reject(new Error(code)))]);
  return { socket, received: () => received, closed };
}

async function converse(client: TestClient, text: string): Promise<void> {
  const before = client.received();
  client.socket.write(text);
  await eventually(`the answer to ${text}`, () => client.received() === before + text.toUpperCase());
}

describe('a proxy that lets everything pass', () => {
  it('forwards both ways and counts', async () => {
    const one = await dial();
    const two = await dial();
    await converse(one, 'one');
    await converse(two, 'two');
    expect(proxy.connectionCount).toBe(2);
    one.socket.destroy();
    await eventually('one connection is left', () => proxy.connectionCount === 1);
    await eventually('the server sees that one has gone', () => seen[0]?.open === false);
  });

  it('hands on the end of one side while the other still talks', async () => {
    const client = await dial();
    client.socket.end('last');
    expect(await client.closed).toBe('end');
    expect(client.received()).toBe('LASTBYE');
    await eventually('nothing is left', () => proxy.connectionCount === 0);
  });

  it('carries much in order, to a reader that is slow to start', async () => {
    const client = await dial();
    client.socket.pause();
    const sent = Array.from({ length: 400_000 }, (_, n) => `${n},`).join('');
    client.socket.write(sent);
    await eventually('the server was sent something', () => (seen[0]?.text.length ?? 0) > 100_000);
    client.socket.resume();
    await eventually('everything came back', () => client.received().length === sent.length);
    expect(client.received()).toBe(sent);
  });

  it('resets a client whose server is not there', async () => {
    server.close();
    const client = await dial();
    expect(await client.closed).toBe('ECONNRESET');
  });
});

describe('cut', () => {
  it('resets both sides and serves new connections', async () => {
    const client = await dial();
    await converse(client, 'a');
    proxy.cut();
    expect(await client.closed).toBe('ECONNRESET');
    await eventually('the server sees it', () => seen[0]?.open === false);
    expect(proxy.connectionCount).toBe(0);
    await converse(await dial(), 'b');
  });
});

describe('blackhole', () => {
  it('silences the connections of now and serves new ones; held bytes pass after heal', async () => {
    const silent = await dial();
    await converse(silent, 'a');
    proxy.blackhole('existing');
    silent.socket.write('held');
    await converse(await dial(), 'b');
    expect(await settlesWithin(silent.closed, 200)).toBe(false);
    expect(seen[0]?.text).toBe('a');
    await proxy.heal();
    await eventually('the held bytes were answered', () => silent.received() === 'AHELD');
  });

  it('of all keeps new connections from the server too', async () => {
    proxy.blackhole('all');
    const client = await dial();
    client.socket.write('held');
    expect(await settlesWithin(client.closed, 200)).toBe(false);
    expect(seen).toHaveLength(0);
    await proxy.heal();
    await eventually('the held bytes were answered', () => client.received() === 'HELD');
  });

  it('hides that the server has gone, until heal', async () => {
    const client = await dial();
    await converse(client, 'a');
    proxy.blackhole('all');
    seen[0]?.socket.resetAndDestroy();
    expect(await settlesWithin(client.closed, 200)).toBe(false);
    await proxy.heal();
    expect(await client.closed).toBe('ECONNRESET');
  });

  it('never lets the server hear of a client that gave up', async () => {
    proxy.blackhole('all');
    for (const how of ['destroy', 'resetAndDestroy'] as const) {
      const client = await dial();
      client.socket.write('too late');
      await eventually('it is counted', () => proxy.connectionCount === 1);
      client.socket[how]();
      await eventually('it is not counted any more', () => proxy.connectionCount === 0);
    }
    await proxy.heal();
    await converse(await dial(), 'a');
    expect(seen.map((one) => one.text)).toEqual(['a']);
  });

  it('can be cut, which ends what was held', async () => {
    const client = await dial();
    await converse(client, 'a');
    proxy.blackhole('all');
    client.socket.write('held');
    proxy.cut();
    expect(await client.closed).toBe('ECONNRESET');
    await proxy.heal();
    await converse(await dial(), 'b');
    expect(seen.map((one) => one.text)).toEqual(['a', 'b']);
  });
});

describe('delay', () => {
  it('adds to each way and keeps the order, also when it gets shorter', async () => {
    const client = await dial();
    await converse(client, 'x');
    proxy.delay(150);
    const start = performance.now();
    await converse(client, 'a');
    expect(performance.now() - start).toBeGreaterThan(295);

    client.socket.write('b');
    await eventually('some time has passed', () => performance.now() - start > 350);
    proxy.delay(1);
    client.socket.write('c');
    await eventually('both answers came', () => client.received().length === 4);
    expect(client.received()).toBe('XABC');

    await proxy.heal();
    await converse(client, 'd');
  });
});

describe('dropReplies', () => {
  it('lets the server act and loses its answer; heal resets what lost something', async () => {
    const victim = await dial();
    const idle = await dial();
    await converse(idle, 'i');
    proxy.dropReplies();
    victim.socket.write('act');
    await eventually('the server acted', () => seen.some((one) => one.text === 'act'));
    expect(await settlesWithin(victim.closed, 200)).toBe(false);
    expect(victim.received()).toBe('');
    await proxy.heal();
    expect(await victim.closed).toBe('ECONNRESET');
    await converse(idle, 'j');
  });
});

describe('redirect', () => {
  it('leads new connections to the other server, and leaves those of now', async () => {
    const client = await dial();
    await converse(client, 'a');
    const other = createServer((socket) => void socket.end('OTHER'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    proxy.redirect({ host: '127.0.0.1', port: (other.address() as { port: number }).port });
    const moved = await dial();
    await eventually('the other answers', () => moved.received() === 'OTHER');
    await converse(client, 'b');
    other.close();
  });
});

describe('refuse', () => {
  it('refuses new connections, keeps those of now, and listens on the same port after heal', async () => {
    const client = await dial();
    await proxy.refuse();
    await expect(dial()).rejects.toThrow('ECONNREFUSED');
    await converse(client, 'a');
    await proxy.heal();
    await converse(await dial(), 'b');
  });
});
