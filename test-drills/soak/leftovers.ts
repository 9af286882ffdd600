import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { text as readText } from 'node:stream/consumers';
import { runPsql } from '@surety/testbed';
import type { AdapterOptions } from '../private/connect.ts';

/** How many things of each kind a server holds: rows by table, elements by key, messages by queue. */
export type Held = Readonly<Record<string, number>>;

/** What a server can be asked beside its address. */
interface Operated {
  control?(...args: readonly string[]): Promise<string>;
}

const ASK_MS = 15_000;

/** Counts what the server holds for one backend, with nothing of the adapter in between. */
export async function heldBy(options: AdapterOptions, server: Operated | null): Promise<Held> {
  if (options.adapter === 'sqlite') return rowsOfFile(options.file);
  if (options.adapter === 'postgres') return rowsOfDatabase(String(options.options.url));
  if (options.adapter === 'redis') {
    const { connection } = options.options;
    return typeof connection === 'string' ? elementsOfRedis(connection) : {};
  }
  if (options.adapter === 'sqs') return messagesOfSqs(String(options.options.endpoint));
  const text = (await server?.control?.('-q', 'list_queues', 'name', 'messages')) ?? '';
  return asHeld(text, '\t');
}

function rowsOfFile(file: string): Held {
  using database = new DatabaseSync(file, { readOnly: true });
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
  return Object.fromEntries(
    tables.map(({ name }) => [
      String(name),
      Number(database.prepare(`select count(*) as rows from "${String(name)}"`).get()?.['rows']),
    ]),
  );
}

const ROWS = `select table_schema || '.' || table_name || '|' ||
  (xpath('/row/c/text()', query_to_xml(format('select count(*) as c from %I.%I', table_schema, table_name), false, true, '')))[1]::text
  from information_schema.tables where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;

async function rowsOfDatabase(url: string): Promise<Held> {
  const { stdout } = await runPsql(url, ROWS);
  return asHeld(stdout, '|');
}

const ELEMENTS = `local held = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind = redis.call('TYPE', key).ok
  local count = ({ hash = 'HLEN', zset = 'ZCARD', list = 'LLEN', set = 'SCARD' })[kind]
  held[#held + 1] = key .. '|' .. (count and redis.call(count, key) or 1)
end
return table.concat(held, '\\n')`;

async function elementsOfRedis(url: string): Promise<Held> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.setTimeout(ASK_MS, () => socket.destroy(new Error('Redis did not answer')));
  await once(socket, 'connect');
  const words = ['EVAL', ELEMENTS, '0'];
  socket.end(
    `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
  );
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  // A bulk string: its length in a line, then the text.
  const [, ...lines] = Buffer.concat(parts).toString().split('\n');
  return asHeld(lines.join('\n'), '|');
}

async function messagesOfSqs(endpoint: string): Promise<Held> {
  const { QueueUrls = [] } = await askSqs<{ readonly QueueUrls?: readonly string[] }>(
    endpoint,
    'ListQueues',
    {},
  );
  const held: Record<string, number> = {};
  for (const url of QueueUrls) {
    const { Attributes } = await askSqs<{ readonly Attributes: Readonly<Record<string, string>> }>(
      endpoint,
      'GetQueueAttributes',
      { QueueUrl: url, AttributeNames: ['All'] },
    );
    const counts = ['', 'NotVisible', 'Delayed'].map((suffix) =>
      Number(Attributes[`ApproximateNumberOfMessages${suffix}`] ?? 0),
    );
    held[url.slice(url.lastIndexOf('/') + 1)] = counts.reduce((sum, count) => sum + count, 0);
  }
  return held;
}

async function askSqs<T>(endpoint: string, action: string, body: object, tries = 10): Promise<T> {
  // Without an agent, so that no connection is kept: they are counted.
  const asked = request(endpoint, {
    method: 'POST',
    agent: false,
    timeout: ASK_MS,
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `AmazonSQS.${action}`,
      authorization:
        'AWS4-HMAC-SHA256 Credential=soak/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0',
    },
  });
  asked.on('timeout', () => asked.destroy(new Error(`${action} was not answered`)));
  asked.end(JSON.stringify(body));
  const { status, text } = await once(asked, 'response').then(
    async (told) => {
      const response = told[0] as IncomingMessage;
      return { status: response.statusCode, text: await readText(response) };
    },
    (error: unknown) => ({ status: 0, text: String(error) }),
  );
  if (status === 200) return JSON.parse(text) as T;
  // It throttles whoever asks, and loses answers, as on any day.
  if (tries > 1) return askSqs(endpoint, action, body, tries - 1);
  throw new Error(`${action}: ${status} ${text}`);
}

function asHeld(text: string, between: string): Held {
  const rows = text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(between));
  return Object.fromEntries(
    rows.flatMap(([name, count]) => {
      const value = Number(count);
      return name === undefined || count === undefined || !Number.isFinite(value) ? [] : [[name, value]];
    }),
  );
}
