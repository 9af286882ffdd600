import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The protocol header of AMQP 0-9-1. */
const HEADER = Buffer.from([...Buffer.from('AMQP'), 0, 0, 9, 1]);
const TRY_MS = 2000;
const LIMIT_MS = 120_000;

/** Resolves with the version once a broker greets on the port. `ended` says why it never will. */
export async function awaitGreeting(port: number, ended: () => string | undefined): Promise<string> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const greeting = await greetingOf(port);
    if (greeting !== null) return versionIn(greeting);
    const why = ended();
    if (why !== undefined) throw new Error(why);
    if (performance.now() > deadline) throw new Error(`no broker greeted on port ${port} in ${LIMIT_MS} ms`);
    await sleep(50);
  }
}

/** The first frame that a broker sends, or null when there is none. */
function greetingOf(port: number): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let seen = Buffer.alloc(0);
    const end = (answer: Buffer | null): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(TRY_MS, () => end(null));
    socket.on('error', () => end(null));
    socket.on('close', () => end(null));
    socket.on('connect', () => socket.write(HEADER));
    socket.on('data', (chunk: Buffer) => {
      seen = Buffer.concat([seen, chunk]);
      // Type 1, a method; its length stands in bytes 3 to 6, and one more byte ends the frame.
      if (seen.length >= 7 && seen[0] === 1 && seen.length >= seen.readUInt32BE(3) + 8) end(seen);
    });
  });
}

/** The property `version` of Connection.Start: a short name, the type S, a length of four bytes, the text. */
function versionIn(frame: Buffer): string {
  const name = Buffer.from('\u0007versionS');
  const at = frame.indexOf(name);
  if (at < 0) return 'unknown';
  const length = frame.readUInt32BE(at + name.length);
  const from = at + name.length + 4;
  return frame.subarray(from, from + length).toString('utf8');
}
