import { readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

/** A message as the emulator keeps it. */
export interface StoredMessage {
  readonly messageId: string;
  body: string;
  md5OfBody: string;
  sentTimestamp: number;
  approximateReceiveCount: number;
  approximateFirstReceiveTimestamp?: number;
  delayUntil?: number;
}

interface InFlight {
  readonly message: StoredMessage;
  readonly receiptHandle: string;
  visibilityDeadline: number;
}

/** A queue as the emulator keeps it. */
export interface StoredQueue {
  readonly name: string;
  messages: StoredMessage[];
  delayedMessages: StoredMessage[];
  readonly inflightMessages: Map<string, InFlight>;
  persistence: Persistence | undefined;
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: ReadonlyMap<string, string>;
  readonly url: string;
  readonly arn: string;
  readonly createdTimestamp: number;
  readonly lastModifiedTimestamp: number;
  readonly sequenceCounter: number;
  enqueue(message: StoredMessage): void;
  deleteMessage(receiptHandle: string): boolean;
  processTimers(): void;
}

interface Persistence {
  readonly db: DatabaseSync;
  insertQueue(queue: StoredQueue): void;
  updateMessageReady(messageId: string): void;
  updateTimes(message: StoredMessage, visibilityDeadline: number | null): void;
  deleteMessage(messageId: string): void;
  loadSqsAndSns(sqs: Store, sns: unknown): void;
}

interface Store {
  host: string;
  persistence: Persistence | undefined;
  getQueue(url: string): StoredQueue | undefined;
  getQueueByName(name: string): StoredQueue | undefined;
  allQueues(): Iterable<StoredQueue>;
}

interface StoreClass {
  new (): Store;
  createMessage(body: string): StoredMessage;
}

/** What the emulator's own router calls to answer. */
interface Reply {
  status(code: number): void;
  header(): void;
}

interface Router {
  register(action: string, handler: unknown): void;
  handle(
    request: { readonly headers: Readonly<Record<string, string>>; readonly body: unknown },
    reply: Reply,
  ): Promise<unknown>;
}

const ACTIONS = [
  'createQueue',
  'deleteQueue',
  'getQueueUrl',
  'listQueues',
  'getQueueAttributes',
  'setQueueAttributes',
  'purgeQueue',
  'sendMessage',
  'receiveMessage',
  'deleteMessage',
  'sendMessageBatch',
  'deleteMessageBatch',
  'changeMessageVisibility',
  'changeMessageVisibilityBatch',
  'tagQueue',
  'untagQueue',
  'listQueueTags',
];

/** The emulator in this process, with a hand on its messages. */
export interface Emulator {
  /** One request, past the web server that it comes with, which costs more than the emulator itself. */
  ask(
    headers: Readonly<Record<string, string>>,
    body: unknown,
  ): Promise<{ readonly status: number; readonly content: unknown }>;
  readonly store: Store;
  readonly version: string;
  newMessage(body: string): StoredMessage;
}

/** A folder keeps the messages over a restart; null: they are in memory alone, which is faster. */
export async function loadEmulator(folder: string | null): Promise<Emulator> {
  const main = import.meta.resolve('fauxqs');
  const inside = (path: string): Promise<unknown> => import(new URL(path, main).href);
  // Nothing of this is exported: only `startFauxqs` joins its parts, and that listens on all interfaces.
  const { SqsStore } = (await inside('sqs/sqsStore.js')) as { SqsStore: StoreClass };
  const { SnsStore } = (await inside('sns/snsStore.js')) as { SnsStore: new () => unknown };
  const { SqsRouter } = (await inside('sqs/sqsRouter.js')) as { SqsRouter: new (store: Store) => Router };
  const store = new SqsStore();
  // The URL of a queue then has the host that its creator asked at.
  store.host = '';
  if (folder !== null) {
    const { PersistenceManager } = (await inside('persistence.js')) as {
      PersistenceManager: new (folder: string) => Persistence;
    };
    keep(store, mended(new PersistenceManager(folder)), new SnsStore());
  }
  const router = new SqsRouter(store);
  for (const name of ACTIONS) {
    const action = (await inside(`sqs/actions/${name}.js`)) as Readonly<Record<string, unknown>>;
    router.register(`${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, action[name]);
  }
  const manifest = JSON.parse(readFileSync(new URL('../package.json', main), 'utf8')) as { version: string };
  return {
    store,
    async ask(headers, body) {
      let status = 200;
      const reply: Reply = {
        status(code) {
          status = code;
        },
        header: () => undefined,
      };
      return { content: await router.handle({ headers, body }, reply), status };
    },
    version: `fauxqs ${manifest.version}`,
    newMessage: (body) => SqsStore.createMessage(body),
  };
}

/** Two of its statements lose messages: tagging a queue replaces its row, and their rows go with it; a visibility of 0 breaks a constraint. */
function mended(persistence: Persistence): Persistence {
  const { db } = persistence;
  // A crash here is that of the process, not of the machine.
  db.exec('PRAGMA synchronous = OFF');
  const queueRow = db.prepare(
    `INSERT INTO sqs_queues (name, url, arn, attributes, tags, created_timestamp, last_modified_timestamp, sequence_counter)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET attributes = excluded.attributes, tags = excluded.tags`,
  );
  const ready = db.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  );
  persistence.insertQueue = (queue) =>
    void queueRow.run(
      queue.name,
      queue.url,
      queue.arn,
      JSON.stringify(queue.attributes),
      JSON.stringify(Object.fromEntries(queue.tags)),
      queue.createdTimestamp,
      queue.lastModifiedTimestamp,
      queue.sequenceCounter,
    );
  const times = db.prepare(
    `UPDATE sqs_messages SET sent_timestamp = ?, delay_until = ?, approximate_first_receive_timestamp = ?, visibility_deadline = ?
     WHERE message_id = ?`,
  );
  persistence.updateTimes = (message, visibilityDeadline) =>
    void times.run(
      message.sentTimestamp,
      message.delayUntil ?? null,
      message.approximateFirstReceiveTimestamp ?? null,
      visibilityDeadline,
      message.messageId,
    );
  persistence.updateMessageReady = (messageId) => void ready.run(messageId);
  return persistence;
}

function keep(store: Store, persistence: Persistence, sns: unknown): void {
  persistence.loadSqsAndSns(store, sns);
  store.persistence = persistence;
  for (const queue of store.allQueues()) queue.persistence = persistence;
}
